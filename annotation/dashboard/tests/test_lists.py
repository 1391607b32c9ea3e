"""What a list's address asks for is read and written one way."""

from annotation.dashboard.lists import ListQuery

ORDERS = {"": ("oldest first", None), "newest": ("newest first", None)}


def test_an_address_says_what_is_shown_sought_and_how_it_is_sorted() -> None:
    asked = ListQuery(
        {"show": "paid", "q": " Ada ", "sort": "newest", "stage": "answer", "page": "2"},
        ORDERS,
        {"paid", "waiting"},
        "stage",
    )
    assert (asked.show, asked.sought, asked.sort, asked.own) == (
        "paid",
        "Ada",
        "newest",
        {"stage": "answer"},
    )
    assert asked.is_narrowed
    assert asked.address() == "show=paid&q=Ada&stage=answer&sort=newest"
    assert asked.address(show="waiting") == "show=waiting&q=Ada&stage=answer&sort=newest"


def test_what_no_list_has_is_as_though_it_were_not_there() -> None:
    asked = ListQuery({"show": "odd", "sort": "odd", "q": " "}, ORDERS, {"paid"}, "stage")
    assert (asked.show, asked.sort, asked.address()) == ("", "", "")
    assert not asked.is_narrowed


def test_a_page_comes_with_what_its_template_says_of_the_list() -> None:
    shown = ListQuery({"page": "2", "sort": "newest"}, ORDERS).page(list(range(5)), 2)
    assert list(shown["page"]) == [2, 3]
    assert shown["query"] == "sort=newest&"
    assert shown["sorts"] == [("", "oldest first"), ("newest", "newest first")]
