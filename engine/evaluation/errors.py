"""What a person can mend before or during an evaluation, told in one line."""


class EvaluationError(ValueError):
    """An evaluation that cannot be asked for or finished as it stands; the text names the cure."""
