"""Results of TLC: the TLA+ models of the network interface, and the tables of the bundle in them.

    {"format": "certree-bundle-tla", "version": 1, "tool": {"artifact": "...", "sha256": "..."}, "modules": {NAME: SHA-256},
     "models": [{"name", "module", "result", "mode", "distinct_states", "total_states"}, ...],
     "tables": such an entry without names, with a "message", or {"absent": "why"}}

`tla/` also has the modules and configurations, as TLC reads them. The results are those of the pinned TLC on these modules; times
are left out, so that the same input gives the same bytes.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from certree.api.settings import Tell
from certree.extras.bundles.evidence import EVIDENCE, Evidence, ItemResult, Opened, Source, Status, absent
from certree.extras.bundles.reading import MODELS
from certree.extras.tla.check.model_file import listed
from certree.extras.tla.check.model_runs import ModelResult, specs_folder
from certree.extras.tla.check.models import configuration_file, model_check
from certree.extras.tla.check.table_model import extent_of_success, model_check_tables, table_model_files
from certree.extras.tla.check.tlc import Result
from certree.extras.tla.check.tlc_jar import ARTIFACT, JAR_SHA256
from certree.models.common.errors import InputError, UnsupportedError, short
from certree.models.common.fields import Fields
from certree.models.common.files import canonical_json, sha256
from certree.models.common.progress import Counted
from certree.models.tables.tables import Tables

FOLDER, FORMAT, VERSION = "tla", "certree-bundle-tla", 1
#: modules of the models that say how schedules are executed by network interfaces, in slots
MODULES = ("MCAllReduce", "MCSchedule", "MCNILockstep")
TABLES_SECONDS = 300.0
_USES = re.compile(r"\b(?:EXTENDS|INSTANCE)\s+(\w+(?:\s*,\s*\w+)*)")
_KEYS = ("name", "module", "result", "mode", "distinct_states", "total_states")


@EVIDENCE.register("tla")
class TlaEvidence(Evidence):
    """TLC finds no error in the models of the network interface, nor in its model with these tables, where they are small enough"""

    needs = ("schedule", "tables")
    by_hand = f"`unzip F.certree 'tla/*' && cd tla && java -cp TLC.jar tlc2.TLC -config NAME.cfg MODULE.tla`; TLC.jar is {ARTIFACT}"

    def collect(self, source: Source) -> Mapping[str, bytes]:
        """Runs TLC; ToolMissingError without it."""
        if not source.tla:
            raise absent("it was not asked for")
        if source.tables is None:
            raise absent(f"there are no tables, which are what the models execute: {source.no_tables}")
        texts = _texts(source.tables)
        models = [_entry(result) for result in _checked_models(source.tell)]
        return _members(texts, models, _check_tables(source.tables))

    def recheck(self, name: str, opened: Opened) -> Iterator[ItemResult]:
        """Hashes of tool and modules; results by what `specs/models.toml` expects, or by running TLC again."""
        tables = opened.tables
        if tables is None:
            raise InputError(f"{opened.bundle.source}: results of TLC need tables")
        stated = opened.bundle.document(MODELS)
        fields = Fields.of_format(stated, FORMAT, VERSION, MODELS).only("tool", "modules", "models", "tables")
        if (fault := _fault(opened.bundle.under(FOLDER), _texts(tables), fields)) is not None:
            yield ItemResult(name, Status.FAILED, f"{fault} (made with certree {opened.bundle.made_with.get('certree')})")
            return
        again = opened.trust == "none"
        yield _compared_models(f"{name}: models", stated["models"], opened.tell, again=again)
        yield _compared_tables(f"{name}: tables", stated["tables"], tables, again=again)


def _names() -> list[str]:
    """The models that are checked: the small ones of these modules that are expected to succeed."""
    return [
        name
        for name, model in listed().models.items()
        if model.module in MODULES and model.runtime == "small" and model.expected.result is Result.SUCCESS
    ]


def _checked_models(tell: Tell) -> list[ModelResult]:
    """The results of TLC on these models."""
    return model_check(_names(), report=lambda result, done, total: tell(Counted(f"TLC: {result.name}", done, total)))


def _texts(tables: Tables) -> dict[str, bytes]:
    """The inputs of TLC: modules, configurations, and the model of the tables, if there is one."""
    try:
        own = table_model_files(tables)
    except UnsupportedError:
        own = {}
    configurations = {f"{name}.cfg": configuration_file(name) for name in _names()}
    generated = [name for text in own.values() for name in _used(text)]
    modules = {f"{name}.tla": text for name, text in _modules([*MODULES, *generated]).items()}
    return {name: text.encode() for name, text in sorted((modules | configurations | own).items())}


def _modules(names: list[str]) -> dict[str, str]:
    """The modules of `specs/` with these names, and those that they use."""
    found: dict[str, str] = {}
    while names:
        name = names.pop()
        path = specs_folder() / f"{name}.tla"
        if name not in found and path.is_file():  # others are of TLC
            found[name] = path.read_text()
            names += _used(found[name])
    return found


def _used(text: str) -> list[str]:
    return [name for group in _USES.findall(text) for name in re.findall(r"\w+", group)]


def _members(texts: Mapping[str, bytes], models: list[dict[str, Any]], tables: dict[str, Any]) -> dict[str, bytes]:
    document = {
        "format": FORMAT,
        "version": VERSION,
        "tool": {"artifact": ARTIFACT, "sha256": JAR_SHA256},
        "modules": _hashes(texts),
        "models": models,
        "tables": tables,
    }
    return {MODELS: canonical_json(document), **{f"{FOLDER}/{name}": text for name, text in texts.items()}}


def _hashes(texts: Mapping[str, bytes]) -> dict[str, str]:
    return {name: sha256(text) for name, text in texts.items() if name.endswith(".tla")}


def _entry(result: ModelResult) -> dict[str, Any]:
    """The result of a model, without its time. InputError for one that is not as expected."""
    if not result.as_expected:
        raise InputError(f"TLC: {result.name}: {result.result}: {result.message}; nothing is bundled")
    model = listed().models[result.name]
    return {**_facts(result), "name": result.name, "module": model.module}


def _facts(result: ModelResult) -> dict[str, Any]:
    return {
        "result": str(result.result),
        "mode": result.mode,
        "distinct_states": result.distinct_states,
        "total_states": result.total_states,
    }


def _check_tables(tables: Tables) -> dict[str, Any]:
    """The entry of the tables, by running TLC."""
    try:
        result = model_check_tables(tables, TABLES_SECONDS)
    except UnsupportedError as error:
        return {"absent": str(error)}
    if result.result == Result.UNKNOWN:
        return {"absent": f"TLC does not finish within {TABLES_SECONDS:.0f} s"}
    if not result.as_expected:
        raise InputError(f"TLC: {result.name}: {result.result}: {result.message}; nothing is bundled")
    return {**_facts(result), "message": result.message}


def _fault(found: Mapping[str, bytes], texts: Mapping[str, bytes], stated: Fields) -> str | None:
    """How modules, configurations or tool differ from those of this certree and these tables; None where they do not."""
    if (tool := stated.raw("tool")) != {"artifact": ARTIFACT, "sha256": JAR_SHA256}:
        return f"the results are of another tool than the pinned TLC: {short(tool)}"
    results = MODELS.removeprefix(f"{FOLDER}/")
    for name in sorted(set(found) | set(texts) - {results}):
        if name != results and found.get(name) != texts.get(name):
            return f"{FOLDER}/{name} is not what this certree gives to TLC for these tables"
    if stated.raw("modules") != _hashes(texts):
        return "the hashes of the modules are not those of the modules"
    return None


def _compared_models(name: str, stated: Any, tell: Tell, *, again: bool) -> ItemResult:
    """The results of the models: as `specs/models.toml` expects them, and with `again` as TLC has them now."""
    expected = []
    for model in (listed().models[one] for one in _names()):
        facts = {"result": str(model.expected.result), "mode": model.expected.mode}
        counts = {"distinct_states": model.expected.distinct_states, "total_states": model.expected.total_states}
        expected.append({**facts, **counts, "name": model.name, "module": model.module})
    if stated != expected:
        return ItemResult(name, Status.FAILED, "the results are not those that specs/models.toml expects of these models")
    if not again:
        told = f"success of {len(expected)} models, as specs/models.toml of this certree has them; modules and tool by hash"
        return ItemResult(name, Status.TRUSTED, f"TLC's word: {told}")
    if wrong := [result for result in _checked_models(tell) if not result.as_expected]:
        return ItemResult(name, Status.FAILED, f"{wrong[0].name}: {wrong[0].result}: {wrong[0].message}")
    return ItemResult(name, Status.RERAN, f"{len(expected)} models succeed, with the stated numbers of states")


def _compared_tables(name: str, stated: Any, tables: Tables, *, again: bool) -> ItemResult:
    """The result of the model of the tables."""
    fields = Fields(stated, f"{MODELS}: tables")
    if "absent" in fields:
        reason = fields.only("absent").text("absent")
        try:
            table_model_files(tables)
        except UnsupportedError as error:
            return ItemResult(name, Status.ABSENT, str(error))
        return ItemResult(name, Status.ABSENT, f"although TLC can check these tables: {reason}")
    fields.only(*(key for key in _KEYS if key not in ("name", "module")), "message")
    mode, message = extent_of_success(tables)  # UnsupportedError: no such result can exist
    for key, due in (("result", str(Result.SUCCESS)), ("mode", mode), ("message", message)):
        if fields.text(key) != due:
            return ItemResult(name, Status.FAILED, f"the {key} is {short(stated[key])}; for these tables it must be {due!r}")
    distinct, total = fields.whole_or_none("distinct_states", 1), fields.whole("total_states", 1)
    if (distinct is None) is (mode == "exhaustive"):
        return ItemResult(name, Status.FAILED, "distinct states are counted where all states are checked, and only there")
    told = f"{message}: {mode}, " + (f"{total:,} states" if distinct is None else f"{distinct:,} distinct of {total:,} states")
    if not again:
        return ItemResult(name, Status.TRUSTED, f"TLC's word: success of these tables; {told}; model and tool by hash")
    result = model_check_tables(tables, TABLES_SECONDS)
    true = {**_facts(result), "message": result.message}
    if dict(stated) != true:
        return ItemResult(name, Status.FAILED, f"TLC gives {short(true)}, which is not what the bundle states")
    return ItemResult(name, Status.RERAN, f"success of these tables; {told}")
