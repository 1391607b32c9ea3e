"""The work itself: the queue, the frame, handing in, and what comes after."""
