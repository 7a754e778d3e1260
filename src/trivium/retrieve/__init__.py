"""The roads: a query → what one leg found. A leg never raises for what a user typed."""
