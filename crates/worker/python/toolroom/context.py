"""The call's context, as hints name it. In a worker it is filled in; here it serves editors and tests."""

CAMEL = {
    "user_id": "userId",
    "session_id": "sessionId",
    "correlation_id": "correlationId",
    "trace_id": "traceId",
    "agent_id": "agentId",
    "agent_version": "agentVersion",
    "idempotency_key": "idempotencyKey",
    "approval_id": "approvalId",
    "dry_run": "dryRun",
}
FIELDS = set(CAMEL.values()) | {"timestamp", "timezone", "metadata"}


class Context(dict):
    """Who calls, and ways to report: a dict, with its fields as attributes too."""

    def __init__(self, fields=(), answers=()):
        super().__init__(fields)
        self.reported = {"progress": [], "log": [], "asked": []}
        self.answers = list(answers)

    def __getattr__(self, name):
        key = CAMEL.get(name, name)
        if key in self:
            return self[key]
        if key in FIELDS:
            return None
        raise AttributeError(name)

    def progress(self, progress, total=None, message=None):
        """Tells the caller how far the call has come."""
        self.reported["progress"].append((progress, total, message))

    def log(self, text, level="info"):
        """A line for the caller: debug, info, warning or error."""
        self.reported["log"].append((level, str(text)))

    def ask(self, question, choices=None, schema=None):
        """Asks the person: their answer, or None if they would not give one."""
        self.reported["asked"].append(question)
        answer = self.answers.pop(0) if self.answers else None
        # The person chooses among texts, and the tool gets what it gave.
        return next((choice for choice in choices or () if answer is not None and str(choice) == str(answer)), answer)
