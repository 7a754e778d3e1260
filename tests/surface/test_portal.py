"""The web page: a real browser, a real server, the library of the examples."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from browsing import ARTEFACTS, DESKTOP, PHONE, Held, browsing, page_of, picture
from playwright.sync_api import Browser, Locator, Page, expect
from providers import running as providing

import trivium
from trivium.serve.running import running
from trivium.serve.service import Service
from trivium.types import PUBLIC

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
PORTAL = Path(trivium.__file__).parent / "serve" / "portal"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browsing() as started:
        yield started


@pytest.fixture(scope="module")
def march(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, Service]]:
    """A server of the examples, which nobody writes to."""
    folder = tmp_path_factory.mktemp("portal") / "march.trivium"
    with trivium.init(folder, model="static") as library:
        library.add(EXAMPLES)
        library.search("warm")
        with running(library) as served:
            yield served


@pytest.fixture
def page(browser: Browser, march: tuple[str, Service]) -> Iterator[Page]:
    with page_of(browser, march[0]) as opened:
        yield opened


@pytest.fixture
def phone(browser: Browser, march: tuple[str, Service]) -> Iterator[Page]:
    with page_of(browser, march[0], size=PHONE) as opened:
        yield opened


@contextmanager
def small(browser: Browser, world: Path) -> Iterator[tuple[Page, Service, trivium.Library]]:
    """A page of a small library that may be written to."""
    with (
        trivium.open(world) as library,
        running(library) as (url, service),
        page_of(browser, url) as page,
    ):
        yield page, service, library


def hits(page: Page) -> Locator:
    return page.locator("#hits > li")


def titles(page: Page) -> Locator:
    return page.locator("#hits a.open")


def facet(page: Page, kind: str, value: str) -> Locator:
    return page.locator(f'#facets input[name="{kind}"][value="{value}"]')


def count(page: Page, kind: str, value: str) -> Locator:
    """How many results a value of a filter has."""
    box = page.locator(f'input[name="{kind}"][value="{value}"]')
    return page.locator("#facets label", has=box).locator(".count")


def filters_in(page: Page) -> dict[str, list[str]]:
    """What the address says is chosen."""
    found: dict[str, list[str]] = page.evaluate(
        "() => [...new URLSearchParams(location.search)].reduce("
        "(all, [k, v]) => ({...all, [k]: [...(all[k] ?? []), v]}), {})"
    )
    return found


def as_owner(page: Page, service: Service, path: str = "/") -> None:
    page.goto(f"{path}#token={service.gate.owner_token()}")
    expect(page.locator("#key-open")).to_have_class(re.compile(r"\bon\b"))


# --- searching -----------------------------------------------------------------------------------


def test_results_come_while_somebody_types(page: Page) -> None:
    page.goto("/")
    expect(page.locator("#holds")).to_contain_text("documents")
    expect(page.locator("#query")).to_be_focused()
    page.keyboard.type("battleaxe")
    expect(titles(page).first).to_have_text("Gravewind, the Battle Axe of Hollowgate")
    expect(page.locator("#hits mark.spelling").first).to_be_visible()
    expect(page.locator("#count")).to_contain_text("results in")
    expect(page).to_have_url(re.compile(r"\?q=battleaxe$"))
    expect(page).to_have_title("battleaxe · Trivium")
    page.locator("#query").fill("Gravewind")
    expect(page.locator("#hits mark.words").first).to_have_text("Gravewind")
    picture(page, "results")


def test_an_address_is_a_search(page: Page) -> None:
    page.goto("/?q=battle+axe&category=items")
    expect(page.locator("#query")).to_have_value("battle axe")
    expect(facet(page, "category", "items")).to_be_checked()
    expect(hits(page).first.locator(".trail")).to_contain_text("items")
    page.locator("#home").click()
    expect(page.locator("#start")).to_be_visible()
    page.go_back()
    expect(facet(page, "category", "items")).to_be_checked()
    expect(page.locator("#query")).to_have_value("battle axe")


def test_a_late_answer_does_not_replace_a_newer_one(page: Page) -> None:
    page.goto("/")
    held = Held(page, '"query":"ferry"')
    page.locator("#query").fill("ferry")
    held.wait()
    page.locator("#query").fill("lantern")
    expect(titles(page).first).to_contain_text("Lantern")
    newer = titles(page).all_inner_texts()
    held.let_go()
    page.locator("#more").click()  # an answer that comes after the late one
    expect(hits(page).nth(12)).to_be_attached()
    assert titles(page).all_inner_texts()[: len(newer)] == newer
    expect(page.locator("#query")).to_have_value("lantern")


def test_two_filters_clicked_one_after_the_other_both_hold(page: Page) -> None:
    page.goto("/?q=ferry")
    expect(hits(page).first).to_be_visible()
    held = Held(page, '"category":["places"]')
    facet(page, "category", "places").click()
    held.wait()
    facet(page, "tags", "near-march").click()
    expect(facet(page, "category", "places")).to_be_checked()
    expect(facet(page, "tags", "near-march")).to_be_checked()
    held.let_go()
    expect(page.locator("#chips .chip")).to_have_count(2)
    expect(hits(page).first.locator(".tag[aria-pressed=true]")).to_have_text("near-march")
    expect(hits(page).first.locator(".trail")).to_contain_text("places")
    assert filters_in(page) == {"q": ["ferry"], "category": ["places"], "tags": ["near-march"]}
    assert any(
        body["filter"] == {"category": ["places"], "tags": ["near-march"]} for body in held.bodies
    )
    picture(page, "filters")


def test_nothing_is_drawn_between_pressing_and_letting_go(page: Page) -> None:
    page.goto("/?q=ferry")
    expect(hits(page).first).to_be_visible()
    before = titles(page).all_inner_texts()
    held = Held(page, '"query":"lantern"')
    page.locator("#query").fill("lantern")
    held.wait()
    expect(page.locator("body")).to_have_class(re.compile("busy"))
    box = facet(page, "category", "places").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 8, box["y"] + 8)
    page.mouse.down()
    held.let_go()
    expect(page.locator("body")).not_to_have_class(re.compile("busy"))  # the answer is there
    assert titles(page).all_inner_texts() == before
    page.mouse.up()
    expect(facet(page, "category", "places")).to_be_checked()
    expect(titles(page).first).to_contain_text("Lantern")
    assert filters_in(page) == {"q": ["lantern"], "category": ["places"]}


def test_what_was_chosen_stays_visible_and_the_rest_on_offer(page: Page) -> None:
    page.goto("/?q=ferry")
    facet(page, "category", "items").click()
    expect(page.locator("#chips .chip")).to_have_count(1)
    for category in ("people", "places", "items", "sessions"):
        expect(count(page, "category", category)).not_to_have_text("0")
    facet(page, "category", "places").click()
    expect(page.locator("#chips .chip")).to_have_count(2)
    page.get_by_role("button", name="Remove filter Category: items").click()
    expect(facet(page, "category", "items")).not_to_be_checked()
    expect(facet(page, "category", "places")).to_be_checked()
    page.locator("#query").fill("qqqq zzzz")
    expect(facet(page, "category", "places")).to_be_checked()
    page.get_by_role("button", name="Clear all filters").click()
    expect(page.locator("#chips")).to_be_hidden()
    assert filters_in(page) == {"q": ["qqqq zzzz"]}


def test_what_only_meaning_found_is_not_sold_as_a_match(page: Page) -> None:
    page.goto("/?q=qqxzv+jjkwp&category=items")
    expect(page.locator("#notices")).to_contain_text("only the nearest in meaning")
    expect(page.locator("#notices")).not_to_contain_text("Which do you mean?")
    expect(count(page, "category", "people")).not_to_have_text("0")
    shown = page.locator("#count").inner_text().split(" ")[0]
    expect(count(page, "category", "items")).to_have_text(shown)


def test_a_heading_is_said_once_and_marked_where_it_stands(page: Page) -> None:
    page.goto("/?q=Heron+nature+like+a+bird")
    heron = page.locator("#hits > li", has_text="Heron, the Long Bow").first
    expect(heron.locator(".heading")).to_have_text("Nature")
    expect(heron.locator(".heading mark").first).to_have_text("Nature")
    expect(heron.locator(".snippet")).to_have_text(re.compile("^Like the bird, it wants"))
    expect(heron.locator(".snippet mark", has_text="bird")).to_have_text("bird")


def test_where_nothing_is_left_the_page_says_what_to_do(page: Page) -> None:
    page.goto("/?category=nonesuch")
    expect(page.locator("#nothing")).to_have_text(
        "Nothing is left by these filters. Take one away."
    )
    expect(page.locator("#legs")).to_be_empty()  # no road was taken, so none was skipped


def test_an_empty_library_says_how_to_begin(browser: Browser, home: Path) -> None:
    with (
        trivium.init(home / "empty.trivium", model="static") as library,
        running(library) as (url, _),
        page_of(browser, url) as page,
    ):
        page.goto("/")
        expect(page.locator("#holds")).to_contain_text("Drop files here")


def test_a_filter_alone_browses(page: Page) -> None:
    page.goto("/")
    page.locator("#ways .chip", has_text="people").click()
    expect(facet(page, "category", "people")).to_be_checked()
    expect(facet(page, "category", "items")).to_be_visible()
    expect(hits(page)).to_have_count(12)
    page.locator("#more").click()
    expect(hits(page)).to_have_count(21)
    expect(page.locator("#more")).to_be_hidden()


def test_a_bar_shows_what_each_road_gave_and_the_table_all_of_it(page: Page) -> None:
    page.goto("/?q=who+guards+the+bridge")
    first = hits(page).first
    expect(first.locator(".bar")).to_have_attribute(
        "aria-label", re.compile(r"^Score from Words \d+ %, Meaning \d+ %, Spelling \d+ %")
    )
    share = first.evaluate(
        "hit => [...hit.querySelectorAll('.piece')].map(p => parseFloat(p.style.width))"
        ".reduce((a, b) => a + b)"
    )
    assert share == pytest.approx(100, abs=0.1)
    first.locator(".why").click()
    table = first.locator("table")
    expect(table).to_be_visible()
    gave = [float(text) for text in table.locator("tbody td:last-child").all_inner_texts()]
    total = float(table.locator("tfoot td").inner_text())
    assert sum(gave) == pytest.approx(total, abs=0.003)
    picture(page, "explanation")
    first.locator(".why").click()
    expect(table).to_be_hidden()


def test_no_timer_stands_between_a_letter_and_its_results(page: Page) -> None:
    """While the page's clock stands still, a letter is asked, answered and drawn all the same."""
    page.goto("/")
    expect(page.locator("#holds")).to_contain_text("documents")
    page.clock.install()
    page.clock.pause_at(datetime.now() + timedelta(hours=1))
    page.keyboard.press("f")
    expect(page.locator("#hits")).to_have_attribute("data-query", "f")
    expect(page.locator("#facets fieldset")).to_have_count(0)  # counts come when hits are painted
    page.clock.resume()
    expect(page.locator("#facets fieldset").first).to_be_visible()


def test_letters_wait_for_each_other_only_while_an_answer_is_on_its_way(page: Page) -> None:
    page.goto("/")
    expect(page.locator("#holds")).to_contain_text("documents")
    held = Held(page, '"query":"f"')
    page.clock.install()
    page.clock.pause_at(datetime.now() + timedelta(hours=1))
    page.keyboard.press("f")
    held.wait()
    page.keyboard.type("erry")
    page.clock.run_for(29)
    page.keyboard.press("!")
    page.clock.run_for(30)
    expect(page.locator("#hits")).to_have_attribute("data-query", "ferry!")
    assert [body["query"] for body in held.bodies] == ["f", "ferry!"]
    held.let_go()


def test_a_letter_typed_while_an_answer_arrives_begins_at_the_top_too(page: Page) -> None:
    page.goto("/")
    expect(page.locator("#holds")).to_contain_text("documents")
    held = Held(page, '"query":"f"')
    page.clock.install()
    page.clock.pause_at(datetime.now() + timedelta(hours=1))
    page.keyboard.press("f")
    held.wait()
    page.keyboard.press("e")  # waits, for the answer to "f" is on its way
    held.let_go()
    expect(page.locator("#hits")).to_have_attribute("data-query", "f")
    page.evaluate("() => scrollTo(0, 300)")
    assert page.evaluate("() => scrollY") == 300
    page.clock.resume()
    expect(page.locator("#hits")).to_have_attribute("data-query", "fe")
    assert page.evaluate("() => scrollY") == 0


def test_how_long_drawing_takes_is_measured(page: Page) -> None:
    """From the key to the drawn page; a busy machine decides how long, so it is only kept."""
    page.goto("/")
    for query in ("ferry", "battle axe", "lantern", "salt", "who guards the bridge", "bells"):
        page.locator("#query").fill(query)
        expect(page.locator("#hits")).to_have_attribute("data-query", query)
    page.wait_for_function("() => performance.getEntriesByName('trivium:drawn').length === 6")
    took = {
        name: page.evaluate(
            "(name) => performance.getEntriesByName(name).map((one) => one.duration)",
            f"trivium:{name}",
        )
        for name in ("built", "drawn")
    }
    (ARTEFACTS / "drawn.json").write_text(json.dumps(took))
    assert all(0 < built < drawn for built, drawn in zip(took["built"], took["drawn"], strict=True))


# --- documents -----------------------------------------------------------------------------------


def test_a_document_opens_at_the_passage_that_was_found(page: Page) -> None:
    page.goto("/?q=fords+and+swimming")
    titles(page).first.click()
    view = page.locator("#document")
    expect(view.locator("h2")).to_have_text("Travel: Roads, Weather and Water")
    found = view.locator(".passage.found")
    expect(found).to_contain_text("Fords and swimming")
    expect(found).to_be_in_viewport()
    expect(found.locator("mark").first).to_be_visible()
    expect(view.locator(".passage").first).not_to_be_in_viewport()
    expect(view.locator("table").first).to_be_attached()
    view.get_by_role("button", name="Details").click()
    expect(view.locator(".fields")).to_contain_text("text/markdown")
    picture(page, "document")
    page.reload()
    expect(found).to_be_in_viewport()
    expect(found.locator("mark").first).to_be_visible()
    page.go_back()
    expect(view).to_be_hidden()
    page.go_forward()
    expect(found).to_be_in_viewport()
    page.goto(page.url.replace("q=fords+and+swimming&", ""))
    expect(found).to_be_in_viewport()
    expect(hits(page)).to_have_count(0)


def test_everything_can_be_done_by_keyboard(page: Page) -> None:
    page.goto("/")
    page.locator("#help-open").focus()
    page.keyboard.press("?")
    expect(page.locator("#help")).to_be_visible()
    picture(page, "help")
    page.keyboard.press("Escape")
    expect(page.locator("#help")).to_be_hidden()
    page.keyboard.press("/")
    expect(page.locator("#query")).to_be_focused()
    page.keyboard.type("ferry")
    expect(page.locator("#hits")).to_have_attribute("data-query", "ferry")
    page.keyboard.press("ArrowDown")
    expect(titles(page).first).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(titles(page).nth(1)).to_be_focused()
    page.keyboard.press("e")
    expect(hits(page).nth(1).locator("table")).to_be_visible()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(page.locator("#document h2")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#document")).to_be_hidden()
    expect(titles(page).first).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(page.locator("#query")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#start")).to_be_visible()


def test_text_of_the_library_is_never_markup(browser: Browser, world: Path, home: Path) -> None:
    evil = "<img src=x onerror=\"document.title='broken'\">"
    note = home / "evil.md"
    note.write_text(
        f"---\ntitle: {json.dumps(evil)}\ntags: [{json.dumps(evil)}]\ncategory: <b>bold</b>\n---\n"
        f"# {evil}\n\ngryphon {evil} [[{evil}]] [x](javascript:alert(1)) "
        "<script>document.title='broken'</script>\n"
    )
    with small(browser, world) as (page, _, library):
        assert len(library.add(note).added) == 1
        page.goto("/?q=gryphon")
        expect(titles(page).first).to_have_text(evil)
        titles(page).first.click()
        expect(page.locator("#document .text")).to_contain_text("<script>document.title='broken'")
        expect(page.locator("#document h2")).to_have_text(evil)
        assert page.locator("#hits img, #document img, #facets img, main script").count() == 0
        assert page.locator('a[href^="javascript"]').count() == 0
        expect(page).to_have_title("gryphon · Trivium")


def test_versions_are_compared_and_gone_back_to(browser: Browser, world: Path, notes: Path) -> None:
    with small(browser, world) as (page, service, library):
        note = notes / "places" / "quillhaven.md"
        note.write_text(note.read_text().replace("Osmund Tace", "Brother Caddis"))
        assert len(library.add(notes).updated) == 1
        as_owner(page, service, "/?q=keeper+of+Quillhaven")
        titles(page).first.click()
        view = page.locator("#document")
        expect(view.locator(".text")).to_contain_text("Brother Caddis")
        view.get_by_role("button", name="Versions").click()
        rows = view.locator(".versions li")
        expect(rows).to_have_count(2)
        expect(rows.first).to_contain_text("Active")
        rows.nth(1).get_by_role("button", name="Compare").click()
        expect(view.locator(".diff ins")).to_contain_text("Brother Caddis")
        expect(view.locator(".diff del")).to_contain_text("Osmund Tace")
        picture(page, "versions")
        back = rows.nth(1).get_by_role("button", name="Go back to it")
        back.click()
        expect(view.locator(".text")).to_contain_text("Brother Caddis")  # it asks once more
        rows.nth(1).get_by_role("button", name="Really go back?").click()
        expect(view.locator(".text")).to_contain_text("Osmund Tace")
        expect(hits(page).first.locator(".snippet")).to_contain_text("Osmund Tace")
        assert [one.active for one in library.versions("#5")] == [True, False]


def test_thumbs_are_told_to_the_library(browser: Browser, world: Path) -> None:
    with small(browser, world) as (page, _, library):
        page.goto("/?q=axe")
        up = hits(page).first.get_by_role("button", name="Of use", exact=True)
        up.click()
        expect(up).to_have_attribute("aria-pressed", "true")
        down = hits(page).nth(1).get_by_role("button", name="Of no use")
        down.click()
        expect(down).to_have_attribute("aria-pressed", "true")
        stats = library.feedback_stats(grant=PUBLIC)
        assert (stats["accepted"], stats["dismissed"]) == (1, 1)


# --- adding --------------------------------------------------------------------------------------


def drop(page: Page, name: str, text: str) -> None:
    """Let a file fall on the page."""
    files = page.evaluate_handle(
        "([name, text]) => { const all = new DataTransfer(); "
        "all.items.add(new File([text], name, {type: 'text/markdown'})); return all }",
        [name, text],
    )
    page.dispatch_event("body", "dragover", {"dataTransfer": files})
    expect(page.locator("#drop")).to_be_visible()
    page.dispatch_event("body", "drop", {"dataTransfer": files})
    expect(page.locator("#drop")).to_be_hidden()


def test_a_file_that_is_dropped_goes_in_and_is_found(browser: Browser, world: Path) -> None:
    with small(browser, world) as (page, service, library):
        page.goto("/?q=gryphon+eyrie")
        drop(page, "eyrie.md", "# The eyrie\n\nA gryphon nests above the gate.\n")
        refused = page.locator(".upload.failed")
        expect(refused).to_contain_text("needs the role writer")
        expect(refused.get_by_role("button", name="Enter a key")).to_be_visible()
        page.goto("about:blank")
        as_owner(page, service, "/?q=gryphon+eyrie")
        drop(page, "eyrie.md", "# The eyrie\n\nA gryphon nests above the gate.\n")
        expect(page.locator(".upload.done")).to_contain_text("Added")
        expect(titles(page).first).to_have_text("The eyrie")
        drop(page, "eyrie.md", "# The eyrie\n\nA gryphon nests above the gate.\n")
        expect(page.locator(".upload.done").nth(1)).to_contain_text("It was there already")
        drop(page, "broken.pdf", "%PDF-1.7 this is no PDF")
        expect(page.locator(".upload.failed")).to_contain_text("broken.pdf")
        picture(page, "uploads")
        page.locator(".upload.done").first.get_by_role("button", name="Open it").click()
        expect(page.locator("#document h2")).to_have_text("The eyrie")
        assert [one.title for one in library.documents() if "upload" in one.uri] == ["The eyrie"]


def test_an_upload_is_followed_by_asking_where_its_events_break_off(
    browser: Browser, world: Path
) -> None:
    with small(browser, world) as (page, service, _):
        as_owner(page, service)
        page.route("**/tasks/*/events", lambda route: route.abort())
        page.locator("#file").set_input_files(
            {
                "name": "eyrie.md",
                "mimeType": "text/markdown",
                "buffer": b"# The eyrie\n\nGryphons.\n",
            }
        )
        expect(page.locator(".upload.done")).to_contain_text("Added")


# --- notices -------------------------------------------------------------------------------------


def test_a_road_that_failed_is_explained(
    browser: Browser, notes: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = home / "config" / "trivium" / "trivium.toml"
    settings.parent.mkdir(parents=True)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    with providing(64) as provider:
        model = f'url = "{provider.url}/v1"\nmodel = "base-64"\ndimension = 64\n'
        settings.write_text(f"[models.mine]\n{model}")
        with trivium.init(home / "remote.trivium", model="mine") as library:
            library.add(notes)
    settings.write_text("")
    with small(browser, home / "remote.trivium") as (page, _, _):
        page.goto("/?q=battle+axe")
        notice = page.locator("#notices .notice.bad")
        expect(notice).to_contain_text("Meaning could not be searched just now")
        expect(notice).to_contain_text("words and spelling alone")
        expect(page.locator(".leg.failed")).to_contain_text("Meaning")
        expect(titles(page).first).to_have_text("Emberfold")
        notice.locator("summary").click()
        expect(notice.locator("li")).to_contain_text("vector")
        picture(page, "degraded")


def test_what_competes_for_the_first_place_is_offered(
    page: Page, march: tuple[str, Service]
) -> None:
    library = march[1].library
    words = ("lantern", "ferry", "bridge", "axe", "Hollowgate", "dwarf king weapon")
    asked = [word for word in words if len(library.search(word, grant=PUBLIC).ambiguous) > 1]
    page.goto(f"/?q={asked[0]}")
    notice = page.locator("#notices .notice.ask")
    expect(notice).to_contain_text("Which do you mean?")
    choices = notice.get_by_role("button")
    assert choices.count() >= 2
    picture(page, "ambiguous")
    name = choices.nth(1).inner_text()
    choices.nth(1).click()
    expect(page.locator("#hits > .current")).to_contain_text(name)
    expect(page.locator("#document .passage.found")).to_be_in_viewport()


# --- who asks, and how the library is ------------------------------------------------------------


def test_a_key_and_the_owners_link_open_what_they_grant(browser: Browser, world: Path) -> None:
    with small(browser, world) as (page, service, library):
        _, secret = library.create_key("table", scopes=["dm-only"])
        page.goto("/?q=poisoned+axe")
        expect(hits(page).first).to_be_visible()
        expect(titles(page).filter(has_text="cellar")).to_have_count(0)
        page.locator("#key-open").click()
        page.locator("#key-field").fill("a key of nobody")
        page.get_by_role("button", name="Use this key").click()
        expect(page.locator("#key-problem")).to_contain_text("not known")
        page.locator("#key-field").fill(secret)
        page.get_by_role("button", name="Use this key").click()
        expect(page.locator("#key-dialog")).to_be_hidden()
        secretly = hits(page).filter(has_text="Vole's cellar")
        expect(secretly.locator(".badge.scope")).to_have_text("dm-only")
        page.reload()
        expect(secretly).to_be_visible()
        page.locator("#key-open").click()
        page.get_by_role("button", name="Forget the key").click()
        expect(secretly).to_have_count(0)
        page.goto("about:blank")
        as_owner(page, service, "/?q=poisoned+axe")
        expect(secretly).to_be_visible()
        assert "token" not in page.url
        page.locator("#status-open").click()
        expect(page.locator("#status-content")).to_contain_text("owner (admin), and see everything")
        expect(page.locator("#status-content .numbers")).to_contain_text("6documents")
        picture(page, "status")


def test_a_used_link_and_a_silent_server_are_explained(browser: Browser, world: Path) -> None:
    with small(browser, world) as (page, _, _):
        page.goto("/#token=used-before")
        expect(page.locator("#key-problem")).to_contain_text("used before")
        page.keyboard.press("Escape")
        page.route("**/search", lambda route: route.abort())
        page.locator("#query").fill("axe")
        expect(page.locator("#problem")).to_contain_text("The server does not answer")
        page.unroute("**/search")
        page.get_by_role("button", name="Try again").click()
        expect(hits(page).first).to_be_visible()
        expect(page.locator("#problem")).to_be_empty()


# --- how it looks --------------------------------------------------------------------------------


def test_it_fits_a_phone(phone: Page) -> None:
    phone.goto("/?q=who+guards+the+bridge")
    expect(hits(phone).first).to_be_visible()
    assert phone.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    picture(phone, "phone-results")
    expect(phone.locator("#filters")).to_be_hidden()
    phone.locator("#filters-open").tap()
    facet(phone, "category", "places").tap()
    picture(phone, "phone-filters")
    phone.get_by_role("button", name="Done").tap()
    expect(phone.locator("#filters")).to_be_hidden()
    expect(phone.locator("#filters-open")).to_have_text("Filters · 1")
    titles(phone).first.tap()
    view = phone.locator("#document")
    expect(view.locator(".passage.found")).to_be_in_viewport()
    assert view.evaluate("view => view.getBoundingClientRect().width") == PHONE["width"]
    picture(phone, "phone-document")
    view.get_by_role("button", name="Close").tap()
    expect(view).to_be_hidden()


@pytest.mark.parametrize(
    ("dark", "size"), [(False, DESKTOP), (True, DESKTOP), (True, PHONE)], ids=str
)
def test_axe_finds_nothing_serious(
    browser: Browser, march: tuple[str, Service], dark: bool, size: dict[str, int]
) -> None:
    look = f"{'dark' if dark else 'light'}-{size['width']}"
    with page_of(browser, march[0], size=size, dark=dark) as page:
        page.goto("/?q=varn&category=places&category=people")
        hits(page).first.locator(".why").click()
        expect(hits(page).first.locator("table")).to_be_visible()
        if size == PHONE:  # where the document lies over the results
            no_barriers(page, f"results-{look}")
        titles(page).first.click()
        page.locator("#document").get_by_role("button", name="Details").click()
        expect(page.locator("#document .fields")).to_be_visible()
        no_barriers(page, f"document-{look}")


def test_axe_finds_nothing_serious_at_the_start_and_in_dialogs(page: Page) -> None:
    page.goto("/")
    expect(page.locator("#ways .chip").first).to_be_visible()
    no_barriers(page, "start-light-1440")
    for button, dialog in (("help", "help"), ("status", "status"), ("key", "key-dialog")):
        page.locator(f"#{button}-open").click()
        expect(page.locator(f"#{dialog}")).to_be_visible()
        expect(page.locator("#status-content")).not_to_contain_text("Asking")
        no_barriers(page, f"{button}-light-1440", f"#{dialog}")
        page.keyboard.press("Escape")


def no_barriers(page: Page, name: str, within: str | None = None) -> None:
    picture(page, name)
    found = Axe().run(page, within).response["violations"]
    assert [
        (one["id"], [node["target"] for node in one["nodes"]])
        for one in found
        if one["impact"] in ("serious", "critical")
    ] == []


def test_colours_can_be_chosen(page: Page) -> None:
    page.goto("/")
    scheme = "getComputedStyle(document.documentElement).colorScheme"
    for theme in ("light", "dark"):
        page.locator("#theme").click()
        assert page.evaluate(scheme) == theme
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.locator("#theme").click()
    assert page.evaluate(scheme) == "light dark"


# --- what is served ------------------------------------------------------------------------------


def test_no_script_makes_markup_of_text() -> None:
    unsafe = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|\beval\b|new Function"
    )
    for file in PORTAL.glob("*.js"):
        assert not unsafe.search(file.read_text()), file.name
    page = (PORTAL / "index.html").read_text()
    assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)", page)
    assert not re.search(r'(?:src|href)="(?:https?:)?//', page)


def test_every_module_is_fetched_at_once() -> None:
    page = (PORTAL / "index.html").read_text()
    named = set(re.findall(r'rel="modulepreload" href="(\w+\.js)"', page)) | {"app.js"}
    assert named == {file.name for file in PORTAL.glob("*.js")}
    assert set(re.findall(r'href="(\w+\.css)"', page)) == {
        file.name for file in PORTAL.glob("*.css")
    }
