"""What ctranslate2 hears, file by file, beside openai-whisper on the same weights.

Runs only if it is named, since openai-whisper brings torch: `npm run conformance -- --only whisper_agreement`.
Writes test/conformance/whisper-agreement.md.
"""

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import tiktoken
import torch
import whisper
from checks import check, holds
from spoken_whisper import FILES, REPOSITORY, SENTENCES, SPEECH, TESTS, heard, joined

FIXTURES = REPOSITORY / "test" / "fixtures" / "whisper"
PAGE = REPOSITORY / "test" / "conformance" / "whisper-agreement.md"
sys.path += [str(TESTS), str(FIXTURES)]
from whisper_folder import byte_letters  # noqa: E402
from whisper_ggml import openai_weights  # noqa: E402
from whisper_models import load_weights  # noqa: E402

MODEL = FIXTURES / "spoken"
CONFIG, GENERATION, TOKENIZER = (
    json.loads((MODEL / name).read_text()) for name in ("config.json", "generation_config.json", "tokenizer.json")
)


def reference():
    """openai-whisper with these weights, this vocabulary and windows of this length, instead of 30 s."""
    state = openai_weights({name: widened(name, values) for name, values in load_weights(MODEL).items()})
    width = CONFIG["d_model"]
    sides = [
        (CONFIG[f"max_{kind}_positions"], width, CONFIG[f"{side}_attention_heads"], CONFIG[f"{side}_layers"])
        for side, kind in (("encoder", "source"), ("decoder", "target"))
    ]
    model = whisper.Whisper(
        whisper.model.ModelDimensions(CONFIG["num_mel_bins"], *sides[0], CONFIG["vocab_size"], *sides[1])
    )
    model.load_state_dict(state)
    seconds = CONFIG["max_source_positions"] // 50
    # The functions of these names hide their modules.
    transcribe, decoding = sys.modules["whisper.transcribe"], sys.modules["whisper.decoding"]
    transcribe.N_FRAMES, transcribe.N_SAMPLES, decoding.CHUNK_LENGTH = 100 * seconds, 16_000 * seconds, seconds
    silence(transcribe)
    made = vocabulary()
    transcribe.get_tokenizer = decoding.get_tokenizer = lambda *_, **__: made
    return model.eval()


def silence(module):
    """After the audio: `whisper.transcribe` has features of 0 there; its own example, and all others, have silence."""
    features, lowest = module.log_mel_spectrogram, []

    def log_mel_spectrogram(*audio, **options):
        made = features(*audio, **options)
        lowest[:] = [float(made.min())]
        return made

    def pad_or_trim(made, length):
        return torch.nn.functional.pad(made, (0, length - made.shape[-1]), value=lowest[0])

    module.log_mel_spectrogram, module.pad_or_trim = log_mel_spectrogram, pad_or_trim


def widened(name, values):
    """Its inner layers are four times as wide as the others: zeros there change nothing."""
    tensor, inner = torch.from_numpy(values.copy()), 4 * CONFIG["d_model"]
    if ".fc1." in name:
        return torch.nn.functional.pad(tensor, (0, inner - tensor.shape[-1]))
    return torch.nn.functional.pad(tensor, (0, 0, 0, inner - len(tensor))) if ".fc2.w" in name else tensor


def vocabulary():
    values = {letter: byte for byte, letter in byte_letters().items()}
    ranks = {bytes(values[letter] for letter in text): at for text, at in TOKENIZER["model"]["vocab"].items()}
    special = {added["content"]: added["id"] for added in TOKENIZER["added_tokens"]}
    encoding = tiktoken.Encoding("made", pat_str=r" ?\S+|\s+", mergeable_ranks=ranks, special_tokens=special)
    # English is the first language of both.
    return whisper.tokenizer.Tokenizer(encoding=encoding, num_languages=1, language="en", task="transcribe")


def transcriber():
    model = reference()
    settings = {"language": "en", "temperature": 0.0, "fp16": False, "condition_on_previous_text": False}
    settings["suppress_tokens"] = GENERATION["suppress_tokens"]

    def transcribe(audio):
        with TemporaryDirectory() as folder:
            file = Path(folder, "speech.wav")
            file.write_bytes(audio)
            return whisper.transcribe(model, str(file), **settings)

    return transcribe


def times(answer):
    """Starts and ends, from objects of the SDK or of openai-whisper."""
    parts = [part if isinstance(part, dict) else part.model_dump() for part in answer]
    return [part[edge] for part in parts for edge in ("start", "end")]


def row(said, audio, reference):
    """Cells of one file, and whether the text is that of the reference."""
    wanted = reference(audio)
    answer = heard(audio, language="en", response_format="verbose_json")
    same = answer.text.strip() == wanted["text"].strip()
    own, theirs = times(answer.segments), times(wanted["segments"])
    where = f"{len(own) // 2} for {len(theirs) // 2} segments"
    if len(own) == len(theirs):
        where = f"{max((abs(a - b) for a, b in zip(own, theirs, strict=True)), default=0):.2f} s"
    return [said, wanted["text"].strip(), f"{'same' if same else answer.text.strip()}, {where}"], same


def as_said(cells):
    """Whether both heard the words that were said, in as many segments."""
    said, wanted, own = cells
    return said == wanted and own.startswith("same") and own.endswith(" s")


HEAD = """# Agreement with openai-whisper

`npm run conformance -- --only whisper_agreement` writes this page. openai-whisper {version} and
`ctranslate2` hear the same files on the same weights: those of `test/fixtures/whisper/spoken`, trained on 16 words of
a synthetic voice, with windows of 4 s. All decode greedily, without the text before. "Same": the text is that of
openai-whisper, letter by letter.

Three things of openai-whisper are set to fit these small models: the length of a window (4 s in place of 30), the
vocabulary, and what follows the audio in its last window. There its `transcribe` has features of 0, which no audio
gives; here it is silence, as in its own example and in `ctranslate2`. With its zeros it adds words after the
end of the audio on these weights: then 1 of 27 files has the same text.

What differs has two causes. A window that is one segment begins at 0 for openai-whisper, at the time that the model
says for `ctranslate2`. Files longer than a window (the last three, with pauses of a second) are cut by `ctranslate2`
in a pause; openai-whisper begins each window where the last segment ended, which may be within a word.

{summary}

| said | openai-whisper | `ctranslate2` |
|---|---|---|
"""


@check("whisper agreement: ctranslate2 hears what openai-whisper hears, file by file")
def _():
    files = list(zip(SENTENCES, FILES, strict=True))
    files += [(", ".join(SENTENCES[at : at + 4]), joined(SPEECH[at : at + 4])) for at in range(0, 12, 4)]
    model = transcriber()
    rows = [row(said, audio, model) for said, audio in files]
    count = sum(same for _, same in rows)
    summary = f"Same text: {count} of {len(rows)} files."
    alike = [cells[2].removeprefix("same, ") for cells, _ in rows if as_said(cells)]
    furthest = max(alike, default="0 s")
    summary += f" {len(alike)} have the words that were said, and starts and ends within {furthest}; the others:"
    table = "".join(f"| {' | '.join(cells)} |\n" for cells, _ in rows if not as_said(cells))
    PAGE.write_text(HEAD.format(version=whisper.__version__, summary=summary) + table)
    print(f"      {summary}", flush=True)
    holds(count >= len(rows) - 2, [cells for cells, same in rows if not same])
