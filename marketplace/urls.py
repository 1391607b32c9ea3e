"""Every address of the marketplace, wherever it is served."""

from django.urls import path

from marketplace.site import (
    available,
    earnings,
    history,
    home,
    messages,
    preferences,
    previews,
    qualifications,
    sign_in,
    submission,
    work,
)

urlpatterns = [
    path("", home.home, name="home"),
    path("sign-in/", sign_in.sign_in, name="sign-in"),
    path("sign-out/", sign_in.sign_out, name="sign-out"),
    path("enter/<str:token>/", sign_in.enter, name="enter"),
    path("hits/", available.available, name="available"),
    path("hits/<str:hit_id>/", previews.preview, name="preview"),
    path("hits/<str:hit_id>/accept/", previews.accept_this, name="accept"),
    path("kinds/<str:hit_type_id>/", previews.preview_any, name="preview-any"),
    path("kinds/<str:hit_type_id>/accept/", previews.accept_any, name="accept-any"),
    path("work/", work.queue, name="queue"),
    path("work/<int:key>/", work.work, name="work"),
    path("work/<int:key>/return/", work.return_hit, name="return"),
    path("work/<int:key>/submitted/", work.submitted, name="submitted"),
    path("work/<int:key>/next/", work.next_hit, name="next"),
    path("history/", history.history, name="history"),
    path("earnings/", earnings.earnings, name="earnings"),
    path("messages/", messages.messages, name="messages"),
    path("preferences/", preferences.preferences, name="preferences"),
    path("qualifications/", qualifications.qualifications, name="qualifications"),
    path("qualifications/<str:type_id>/ask/", qualifications.ask, name="ask"),
    # The form in the frame posts here; the protocol fixes the end of this address.
    path(
        "accepted/<str:secret>/mturk/externalSubmit",
        submission.external_submit,
        name="external-submit",
    ),
]
