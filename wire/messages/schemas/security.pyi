"""Types of the messages of `security.py`. Written by tests/wire/messages/message_types.py."""

from collections.abc import Collection
from typing import Final, NotRequired, TypedDict

from wire.messages.definition import Api

class SaslHandshakeRequest:
    mechanism: str

class SaslHandshakeRequestFields(TypedDict):
    mechanism: str

class SaslHandshakeResponse:
    error_code: int
    mechanisms: tuple[str, ...]

class SaslHandshakeResponseFields(TypedDict):
    error_code: int
    mechanisms: Collection[str]

SASL_HANDSHAKE: Final[
    Api[SaslHandshakeRequest, SaslHandshakeResponse, SaslHandshakeRequestFields, SaslHandshakeResponseFields]
]

class SaslAuthenticateRequest:
    auth_bytes: bytes

class SaslAuthenticateRequestFields(TypedDict):
    auth_bytes: bytes | bytearray | memoryview

class SaslAuthenticateResponse:
    error_code: int
    error_message: str | None
    auth_bytes: bytes
    session_lifetime_ms: int

class SaslAuthenticateResponseFields(TypedDict):
    error_code: int
    error_message: str | None
    auth_bytes: bytes | bytearray | memoryview
    session_lifetime_ms: NotRequired[int]

SASL_AUTHENTICATE: Final[
    Api[
        SaslAuthenticateRequest,
        SaslAuthenticateResponse,
        SaslAuthenticateRequestFields,
        SaslAuthenticateResponseFields,
    ]
]

class DescribeAclsRequest:
    resource_type_filter: int
    resource_name_filter: str | None
    pattern_type_filter: int
    principal_filter: str | None
    host_filter: str | None
    operation: int
    permission_type: int

class DescribeAclsRequestFields(TypedDict):
    resource_type_filter: int
    resource_name_filter: str | None
    pattern_type_filter: NotRequired[int]
    principal_filter: str | None
    host_filter: str | None
    operation: int
    permission_type: int

class DescribeAclsResponseResourceAcl:
    principal: str
    host: str
    operation: int
    permission_type: int

class DescribeAclsResponseResource:
    resource_type: int
    resource_name: str
    pattern_type: int
    acls: tuple[DescribeAclsResponseResourceAcl, ...]

class DescribeAclsResponse:
    throttle_time_ms: int
    error_code: int
    error_message: str | None
    resources: tuple[DescribeAclsResponseResource, ...]

class DescribeAclsResponseResourceAclFields(TypedDict):
    principal: str
    host: str
    operation: int
    permission_type: int

class DescribeAclsResponseResourceFields(TypedDict):
    resource_type: int
    resource_name: str
    pattern_type: NotRequired[int]
    acls: Collection[DescribeAclsResponseResourceAclFields]

class DescribeAclsResponseFields(TypedDict):
    throttle_time_ms: NotRequired[int]
    error_code: int
    error_message: str | None
    resources: Collection[DescribeAclsResponseResourceFields]

DESCRIBE_ACLS: Final[
    Api[DescribeAclsRequest, DescribeAclsResponse, DescribeAclsRequestFields, DescribeAclsResponseFields]
]

class CreateAclsRequestCreation:
    resource_type: int
    resource_name: str
    resource_pattern_type: int
    principal: str
    host: str
    operation: int
    permission_type: int

class CreateAclsRequest:
    creations: tuple[CreateAclsRequestCreation, ...]

class CreateAclsRequestCreationFields(TypedDict):
    resource_type: int
    resource_name: str
    resource_pattern_type: NotRequired[int]
    principal: str
    host: str
    operation: int
    permission_type: int

class CreateAclsRequestFields(TypedDict):
    creations: Collection[CreateAclsRequestCreationFields]

class CreateAclsResponseResult:
    error_code: int
    error_message: str | None

class CreateAclsResponse:
    throttle_time_ms: int
    results: tuple[CreateAclsResponseResult, ...]

class CreateAclsResponseResultFields(TypedDict):
    error_code: int
    error_message: str | None

class CreateAclsResponseFields(TypedDict):
    throttle_time_ms: NotRequired[int]
    results: Collection[CreateAclsResponseResultFields]

CREATE_ACLS: Final[
    Api[CreateAclsRequest, CreateAclsResponse, CreateAclsRequestFields, CreateAclsResponseFields]
]

class DeleteAclsRequestFilter:
    resource_type_filter: int
    resource_name_filter: str | None
    pattern_type_filter: int
    principal_filter: str | None
    host_filter: str | None
    operation: int
    permission_type: int

class DeleteAclsRequest:
    filters: tuple[DeleteAclsRequestFilter, ...]

class DeleteAclsRequestFilterFields(TypedDict):
    resource_type_filter: int
    resource_name_filter: str | None
    pattern_type_filter: NotRequired[int]
    principal_filter: str | None
    host_filter: str | None
    operation: int
    permission_type: int

class DeleteAclsRequestFields(TypedDict):
    filters: Collection[DeleteAclsRequestFilterFields]

class DeleteAclsResponseFilterResultMatchingAcl:
    error_code: int
    error_message: str | None
    resource_type: int
    resource_name: str
    pattern_type: int
    principal: str
    host: str
    operation: int
    permission_type: int

class DeleteAclsResponseFilterResult:
    error_code: int
    error_message: str | None
    matching_acls: tuple[DeleteAclsResponseFilterResultMatchingAcl, ...]

class DeleteAclsResponse:
    throttle_time_ms: int
    filter_results: tuple[DeleteAclsResponseFilterResult, ...]

class DeleteAclsResponseFilterResultMatchingAclFields(TypedDict):
    error_code: int
    error_message: str | None
    resource_type: int
    resource_name: str
    pattern_type: NotRequired[int]
    principal: str
    host: str
    operation: int
    permission_type: int

class DeleteAclsResponseFilterResultFields(TypedDict):
    error_code: int
    error_message: str | None
    matching_acls: Collection[DeleteAclsResponseFilterResultMatchingAclFields]

class DeleteAclsResponseFields(TypedDict):
    throttle_time_ms: NotRequired[int]
    filter_results: Collection[DeleteAclsResponseFilterResultFields]

DELETE_ACLS: Final[
    Api[DeleteAclsRequest, DeleteAclsResponse, DeleteAclsRequestFields, DeleteAclsResponseFields]
]
