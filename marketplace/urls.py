"""Every address of the marketplace, wherever it is served."""

from django.urls import include, path, re_path, register_converter
from django.urls.converters import StringConverter

from marketplace.metrics import metrics
from marketplace.site import (
    frame_views,
    hit_views,
    profile_views,
    qualification_views,
    sign_in_views,
    work_views,
)

handler400 = "marketplace.web.error_pages.bad_request"
handler403 = "marketplace.web.error_pages.permission_denied"
handler404 = "marketplace.web.error_pages.page_not_found"
handler500 = "marketplace.web.error_pages.server_error"


WORD = "[A-Za-z0-9_-]+"


class WordConverter(StringConverter):
    """The letters of ids and secrets; nothing else is looked up, least of all a NUL."""

    regex = WORD


register_converter(WordConverter, "word")

urlpatterns = [
    path("", sign_in_views.home, name="home"),
    path("metrics", metrics, name="metrics"),
    path("sign-in/", sign_in_views.sign_in, name="sign-in"),
    path("sign-out/", sign_in_views.sign_out, name="sign-out"),
    path("enter/<str:token>/", sign_in_views.enter, name="enter"),
    path("join/", sign_in_views.join, name="join"),
    path("desk/", include("marketplace.desk.urls")),
    path("hits/", hit_views.available, name="available"),
    path("hits/<word:hit_id>/", hit_views.preview, name="preview"),
    path("hits/<word:hit_id>/question/", frame_views.preview, name="html-preview"),
    path("hits/<word:hit_id>/accept/", hit_views.accept_this, name="accept"),
    path("kinds/<word:hit_type_id>/", hit_views.preview_any, name="preview-any"),
    path("kinds/<word:hit_type_id>/accept/", hit_views.accept_any, name="accept-any"),
    path("work/", work_views.queue, name="queue"),
    path("work/<int:key>/", work_views.work, name="work"),
    path("work/<int:key>/return/", work_views.return_hit, name="return"),
    path("work/<int:key>/extend/", work_views.extend_time, name="extend"),
    path("work/<int:key>/submitted/", work_views.submitted, name="submitted"),
    path("work/<int:key>/next/", work_views.next_hit, name="next"),
    path("work/<int:key>/contest/", work_views.contest, name="contest"),
    path("work/<int:key>/write/", profile_views.write, name="write"),
    path("history/", profile_views.history, name="history"),
    path("earnings/", profile_views.earnings, name="earnings"),
    path("earnings/statement.csv", profile_views.statement, name="statement"),
    path("earnings/way/", profile_views.payout_way, name="payout-way"),
    path("earnings/report/", profile_views.report, name="report-payment"),
    path("messages/", profile_views.messages, name="messages"),
    path("messages/<int:key>/reply/", profile_views.reply, name="reply"),
    path("preferences/", profile_views.preferences, name="preferences"),
    path("language/", profile_views.language, name="language"),
    path("account/", profile_views.account, name="account"),
    path("account/password/", profile_views.password, name="password"),
    path("account/link/", profile_views.link, name="personal-link"),
    path("account/leave-everywhere/", profile_views.leave_everywhere, name="leave-everywhere"),
    path("account/data.json", profile_views.data, name="my-data"),
    path("account/erase/", profile_views.forget, name="erase"),
    path("qualifications/", qualification_views.qualifications, name="qualifications"),
    path("qualifications/<word:type_id>/ask/", qualification_views.ask, name="ask"),
    path("qualifications/<word:type_id>/test/", qualification_views.test, name="test"),
    path("accepted/<word:secret>/question/", frame_views.accepted, name="html-question"),
    # The form in the frame posts here; the protocol fixes the end of this address.
    # Some pages put a slash behind it.
    re_path(
        f"^accepted/(?P<secret>{WORD})/mturk/externalSubmit/?$",
        frame_views.external_submit,
        name="external-submit",
    ),
    path("mturk/preview", hit_views.old_preview, name="old-preview"),
    path("mturk/previewandaccept", hit_views.old_preview, name="old-accept"),
    path("mturk/searchbar", hit_views.old_search, name="old-search"),
    path("mturk/findhits", hit_views.old_search, name="old-find"),
    path("projects/", hit_views.old_projects, name="old-projects"),
    re_path(f"^projects/(?P<group_id>{WORD})/tasks/?$", hit_views.old_tasks, name="old-tasks"),
    re_path(
        f"^projects/(?P<group_id>{WORD})/tasks/(?P<hit_id>{WORD})/?$",
        hit_views.old_tasks,
        name="old-task",
    ),
    # The service's own path, and what a browser makes of it beside `turkSubmitTo`.
    re_path("^mturk/externalSubmit/?$", frame_views.fixed_submit, name="fixed-submit"),
    re_path("^accepted/mturk/externalSubmit/?$", frame_views.fixed_submit, name="fixed-submit"),
]
