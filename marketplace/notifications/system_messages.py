"""What the marketplace itself writes to workers: kept by key, shown in the reader's language.

A text that may be the marketplace's own has a column beside it, named after it (`reason_message`
beside `reason`): the sentence's key and what is filled in, or null for somebody else's words. The
text is in English, as the API returns it.
"""

from typing import Any

from django.utils.translation import gettext, gettext_noop

# Key and what is filled in, as the column holds them.
SystemMessage = dict[str, str]

SENTENCES = {
    "test_time_was_up": gettext_noop("The time of the test was up."),
    "test_withdrawn": gettext_noop(
        "The requester withdrew it. What you wrote is kept among your data."
    ),
    "taken_out_of_group": gettext_noop("Taken out of the group by the host."),
    "qualification_given": gettext_noop("You now have the qualification “%(name)s”"),
    "qualification_withdrawn": gettext_noop("Your qualification “%(name)s” was withdrawn"),
    "test_not_passed": gettext_noop("Not passed: %(name)s"),
    "request_declined": gettext_noop("You asked for “%(name)s”: it was declined"),
    "no_reason": gettext_noop("No reason was given."),
    "added_to_group": gettext_noop("You are in the group “%(name)s” now"),
    "out_of_group": gettext_noop("You are not in the group “%(name)s” any more"),
    "work_rejected": gettext_noop("Rejected: %(title)s"),
    "rejection_stays": gettext_noop("The rejection stays: %(title)s"),
    "approved_after_all": gettext_noop("Approved after all: %(title)s"),
    "approved_after_all_means": gettext_noop(
        "This work was rejected before. It is approved now, and its reward is yours."
    ),
    "blocked": gettext_noop("%(name)s has closed its HITs to you"),
    "blocked_means": gettext_noop(
        "You can hand in what you hold, and work you have done is decided and paid as before. If "
        "you think that this is a mistake, reply."
    ),
    "unblocked": gettext_noop("%(name)s has opened its HITs to you again"),
    "unblocked_means": gettext_noop("You find them in your list of HITs."),
    "paid": gettext_noop("%(amount)s was paid to you"),
    "paid_how": gettext_noop("On %(date)s by %(method)s, reference %(reference)s."),
    "members_of_group": gettext_noop("Members of %(name)s."),
}
# The name of the account that groups belong to; no requester has it.
HOST_ACCOUNT = gettext_noop("The host of this marketplace")


def system_message(column: str, key: str, **given: str) -> dict[str, Any]:
    """Return a sentence as the values of the column and of the one beside it.

    `given` is what the sentence has places for. Raises KeyError for a sentence that there is not.
    """
    text = SENTENCES[key] % given if given else SENTENCES[key]
    return {column: text, f"{column}_message": {"key": key, **given}}


def own_message(column: str, text: str) -> dict[str, Any]:
    """Return somebody's own words as the values of the column and of the one beside it."""
    return {column: text, f"{column}_message": None}


def translated(text: str, message: SystemMessage | None) -> str:
    """Return the marketplace's sentence in the active language, anybody else's text as it is."""
    if not message:
        return text
    sentence = gettext(SENTENCES[message["key"]])
    return sentence % message if len(message) > 1 else sentence


def account_name(name: str) -> str:
    """Return a requester's name, the host's own account's in the active language."""
    return gettext(name) if name == HOST_ACCOUNT else name
