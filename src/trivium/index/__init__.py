"""The derived index: arrays made from the record, memory-mapped, deletable at any time."""
