"""Errors as they go over the wire: HTTP status, `__type`, message, TurkErrorCode."""

from marketplace import clock

PREFIX = "AWS.MechanicalTurk."


class WireError(Exception):
    """Any refusal of a request; `type_name` is what boto3 shows as the error's Code."""

    status = 400

    def __init__(self, type_name: str, message: str, turk_code: str = "") -> None:
        super().__init__(message)
        self.type_name = type_name
        self.message = message
        self.turk_code = turk_code

    def body(self) -> dict[str, str]:
        """Return the JSON object of the reply; messages end in epoch milliseconds, as observed."""
        stamp = int(clock.real_now().timestamp() * 1000)
        body = {"__type": self.type_name, "Message": f"{self.message} ({stamp} s)"}
        if self.turk_code:
            body["TurkErrorCode"] = PREFIX + self.turk_code
        return body


class RequestError(WireError):
    """The model's RequestError: what the caller asked for cannot be done."""

    def __init__(self, turk_code: str, message: str) -> None:
        super().__init__("RequestError", message, turk_code)


class ServiceFault(WireError):
    """The model's ServiceFault: our own mistake; clients retry it."""

    status = 500

    def __init__(self, message: str) -> None:
        super().__init__("ServiceFault", message, "ServiceFault")


class Unavailable(ServiceFault):
    """What the service needs is away for a moment: no fault, and clients retry it."""

    status = 503


class InvalidParameter(RequestError):
    """A value that has the right shape and still cannot be meant."""

    def __init__(self, message: str) -> None:
        super().__init__("InvalidParameterValue", message)


class NotSupported(RequestError):
    """Something the service's model offers and this marketplace does not do."""

    def __init__(self, message: str) -> None:
        super().__init__("OperationNotSupported", message)


class DoesNotExist(RequestError):
    """No such thing, or it is somebody else's, which is not told apart."""

    def __init__(self, noun: str, code: str, identifier: str) -> None:
        super().__init__(f"{code}DoesNotExist", f"{noun} {identifier} does not exist.")
