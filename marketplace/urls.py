"""Every address of the marketplace, wherever it is served."""

from django.urls import include, path, re_path, register_converter

from marketplace.metrics import metrics
from marketplace.site.assignments import question_pages, submission, work
from marketplace.site.hits import available, old_links, previews
from marketplace.site.profile import (
    account,
    earnings,
    history,
    messages,
    preferences,
    qualification_test,
    qualifications,
)
from marketplace.site.signing_in import home, join, sign_in

handler400 = "marketplace.site.error_pages.bad_request"
handler403 = "marketplace.site.error_pages.permission_denied"
handler404 = "marketplace.site.error_pages.page_not_found"
handler500 = "marketplace.site.error_pages.server_error"


WORD = "[A-Za-z0-9_-]+"


class WordConverter:
    """What ids and secrets are made of; nothing else is looked up, least of all a NUL."""

    regex = WORD

    def to_python(self, value: str) -> str:
        """Return the text as it stands in the address."""
        return value

    def to_url(self, value: str) -> str:
        """Return the text as it is written into an address."""
        return value


register_converter(WordConverter, "word")

urlpatterns = [
    path("", home.home, name="home"),
    path("metrics", metrics, name="metrics"),
    path("sign-in/", sign_in.sign_in, name="sign-in"),
    path("sign-out/", sign_in.sign_out, name="sign-out"),
    path("enter/<str:token>/", sign_in.enter, name="enter"),
    path("join/", join.join, name="join"),
    path("desk/", include("marketplace.desk.urls")),
    path("hits/", available.available, name="available"),
    path("hits/<word:hit_id>/", previews.preview, name="preview"),
    path("hits/<word:hit_id>/question/", question_pages.preview, name="html-preview"),
    path("hits/<word:hit_id>/accept/", previews.accept_this, name="accept"),
    path("kinds/<word:hit_type_id>/", previews.preview_any, name="preview-any"),
    path("kinds/<word:hit_type_id>/accept/", previews.accept_any, name="accept-any"),
    path("work/", work.queue, name="queue"),
    path("work/<int:key>/", work.work, name="work"),
    path("work/<int:key>/return/", work.return_hit, name="return"),
    path("work/<int:key>/extend/", work.extend_time, name="extend"),
    path("work/<int:key>/submitted/", work.submitted, name="submitted"),
    path("work/<int:key>/next/", work.next_hit, name="next"),
    path("work/<int:key>/contest/", work.contest, name="contest"),
    path("work/<int:key>/write/", messages.write, name="write"),
    path("history/", history.history, name="history"),
    path("earnings/", earnings.earnings, name="earnings"),
    path("earnings/statement.csv", earnings.statement, name="statement"),
    path("earnings/way/", earnings.payout_way, name="payout-way"),
    path("earnings/report/", earnings.report, name="report-payment"),
    path("messages/", messages.messages, name="messages"),
    path("messages/<int:key>/reply/", messages.reply, name="reply"),
    path("preferences/", preferences.preferences, name="preferences"),
    path("language/", preferences.language, name="language"),
    path("account/", account.account, name="account"),
    path("account/password/", account.password, name="password"),
    path("account/link/", account.link, name="personal-link"),
    path("account/leave-everywhere/", account.leave_everywhere, name="leave-everywhere"),
    path("account/data.json", account.data, name="my-data"),
    path("account/erase/", account.forget, name="erase"),
    path("qualifications/", qualifications.qualifications, name="qualifications"),
    path("qualifications/<word:type_id>/ask/", qualifications.ask, name="ask"),
    path("qualifications/<word:type_id>/test/", qualification_test.test, name="test"),
    path("accepted/<word:secret>/question/", question_pages.accepted, name="html-question"),
    # The form in the frame posts here; the protocol fixes the end of this address.
    # Some pages put a slash behind it.
    re_path(
        f"^accepted/(?P<secret>{WORD})/mturk/externalSubmit/?$",
        submission.external_submit,
        name="external-submit",
    ),
    path("mturk/preview", old_links.preview, name="old-preview"),
    path("mturk/previewandaccept", old_links.preview, name="old-accept"),
    path("mturk/searchbar", old_links.search, name="old-search"),
    path("mturk/findhits", old_links.search, name="old-find"),
    path("projects/", old_links.projects, name="old-projects"),
    re_path(f"^projects/(?P<group_id>{WORD})/tasks/?$", old_links.tasks, name="old-tasks"),
    re_path(
        f"^projects/(?P<group_id>{WORD})/tasks/(?P<hit_id>{WORD})/?$",
        old_links.tasks,
        name="old-task",
    ),
    # The service's own path, and what a browser makes of it beside `turkSubmitTo`.
    re_path("^mturk/externalSubmit/?$", submission.fixed_submit, name="fixed-submit"),
    re_path("^accepted/mturk/externalSubmit/?$", submission.fixed_submit, name="fixed-submit"),
]
