"""Pages of workers that a requester's page shows in a frame: they run there, and keep nothing."""

from csp.constants import NONE, SELF, UNSAFE_INLINE
from csp.decorators import csp_replace, csp_update

POLICY = {
    "default-src": [NONE],
    "script-src": [SELF],
    "style-src": [SELF, UNSAFE_INLINE],
    "img-src": [SELF, "data:"],
    "font-src": [SELF],
    "connect-src": [NONE],
    "form-action": [NONE],
    "base-uri": [NONE],
    "frame-ancestors": [SELF],
}
# What is inside the frame; a page that does nothing has its style inside it.
framed = csp_replace(POLICY)
# One that asks what would be said of its work.
framed_and_asking = csp_replace({**POLICY, "connect-src": [SELF]})
# The page around it.
with_frame = csp_update({"frame-src": [SELF]})
