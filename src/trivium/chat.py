"""A chat endpoint: messages in, text out, whole or as it comes. OpenAI's interface, and Azure's."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias
from urllib.parse import quote

from trivium.endpoint import DONE, Endpoint, shown
from trivium.errors import InvalidValue, ModelRefused, ModelUnavailable
from trivium.settings import ChatSettings

Messages: TypeAlias = Sequence[Mapping[str, str]]

_CUT = "length"
"""The reason of a model that stops because it has no tokens left."""


@dataclass(slots=True)
class Chat:
    """A model that answers. Nothing is sent before the first call."""

    settings: ChatSettings
    endpoint: Endpoint

    @classmethod
    def of(cls, settings: ChatSettings) -> Chat:
        """The endpoint of the settings; `InvalidValue` says what is missing."""
        missing = [name for name in ("url", "model") if not getattr(settings, name)]
        if settings.kind == "azure" and not settings.api_version:
            missing.append("api_version")
        if missing:
            names = " and ".join(f"chat.{name}" for name in missing)
            raise InvalidValue(
                f"no chat model is set; set {names} (and chat.key_variable if it needs a key) in "
                "your trivium.toml ('trivium config path' shows where)"
            )
        header = "api-key" if settings.kind == "azure" else "Authorization"
        return cls(settings, Endpoint(settings.url, settings.key_variable, header))

    def complete(self, messages: Messages, *, whole: bool = True) -> str:
        """The answer; `ModelRefused` when it was cut and has to be `whole`."""
        answer = self.endpoint.post(
            self._path(), self._body(messages), time_out=self.settings.time_out, tries=2
        )
        try:
            choice = answer["choices"][0]
            text, reason = choice["message"]["content"], choice.get("finish_reason")
        except (KeyError, IndexError, TypeError, AttributeError) as error:
            raise self._rubbish() from error
        if whole and reason == _CUT:
            raise ModelRefused(f"the answer {self._too_long()}")
        if not isinstance(text, str):
            raise self._rubbish()
        return text

    def stream(self, messages: Messages) -> Iterator[str]:
        """The answer in pieces, as they come; the last one says so where the answer was cut.

        `ModelUnavailable` when it breaks off.
        """
        body = {**self._body(messages), "stream": True}
        ended = ""
        for data in self.endpoint.stream(self._path(), body, time_out=self.settings.time_out):
            if data == DONE:
                ended = ended or DONE
                continue
            try:
                choices = json.loads(data)["choices"]
                piece = choices[0].get("delta", {}).get("content") if choices else None
                ended = (choices and choices[0].get("finish_reason")) or ended
            except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
                raise self._rubbish() from error
            if isinstance(piece, str) and piece:
                yield piece
        if not ended:
            raise ModelUnavailable(
                f"the answer of {shown(self.settings.url)} broke off; try again", retryable=True
            )
        if ended == _CUT:
            yield f" … (The answer {self._too_long()}.)"

    def _path(self) -> str:
        if self.settings.kind != "azure":
            return "/chat/completions"
        deployment = quote(self.settings.model, safe="")
        version = quote(self.settings.api_version, safe="")
        return f"/openai/deployments/{deployment}/chat/completions?api-version={version}"

    def _body(self, messages: Messages) -> dict[str, Any]:
        return {
            "model": self.settings.model,
            "messages": [dict(message) for message in messages],
            "temperature": self.settings.temperature,
            "max_tokens": self.settings.tokens,
        }

    def _too_long(self) -> str:
        return f"was cut at {self.settings.tokens} tokens; raise chat.tokens for a whole one"

    def _rubbish(self) -> ModelRefused:
        return ModelRefused(
            f"the answer of {shown(self.settings.url)} is not a chat completion; check chat.url"
        )
