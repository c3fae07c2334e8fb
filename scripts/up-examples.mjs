import { bold } from './setup/report.mjs';

/**
 * One call for each kind of model that is served, by the name that clients of OpenAI send
 * where a model has it.
 */
const CALLS = {
  tts: { alias: 'tts-1', name: 'speak', call: speak },
  stt: { alias: 'whisper-1', name: 'transcribe', call: transcribe },
  llm: { alias: 'gpt-4o-mini', name: 'chat', call: chat },
  embedding: { alias: 'text-embedding-3-small', name: 'embed', call: embed },
};
const JSON_BODY = "-H 'content-type: application/json'";
const NEXT_LINE = ` \\\n${' '.repeat(16)}`;

/**
 * @param settings {models, keyed}: those of the models file; whether requests need a key
 * @returns lines to copy, one call each; empty without models
 */
export const examples = (base, settings) =>
  rows(base, settings)
    .map(([name, text]) => `  ${bold(name.padEnd(11))} ${text}\n`)
    .join('');

function rows(base, { models, keyed }) {
  const key = keyed ? ' -H "authorization: Bearer $KEY"' : '';
  return Object.entries(CALLS).flatMap(([kind, { alias, name, call }]) => {
    const ofKind = models.filter(model => model.kind === kind);
    const model = ofKind.find(({ aliases }) => aliases.includes(alias)) ?? ofKind[0];
    if (!model) return [];
    const called = model.aliases.includes(alias) ? alias : model.id;
    const recording = models.some(other => other.kind === 'tts') ? 'hello.mp3' : 'recording.mp3';
    const voices = Object.keys(model.voices);
    const path = call({ model: called, voices, key, recording });
    return [[name, `curl ${base}${path}`]];
  });
}

function speak({ model, voices, key }) {
  const voice = voices.includes('alloy') ? 'alloy' : (voices[0] ?? 'alloy');
  const body = JSON.stringify({
    model,
    voice,
    input: 'Every request has a place in the queue.',
  });
  return `/v1/audio/speech${key} ${JSON_BODY}${NEXT_LINE}-d '${body}' -o hello.mp3`;
}

function transcribe({ model, key, recording }) {
  return `/v1/audio/transcriptions${key} -F file=@${recording} -F model=${model}`;
}

function chat({ model, key }) {
  const body = JSON.stringify({
    model,
    messages: [{ role: 'user', content: 'What does a switchyard do?' }],
  });
  return `/v1/chat/completions${key} ${JSON_BODY}${NEXT_LINE}-d '${body}'`;
}

function embed({ model, key }) {
  return `/v1/embeddings${key} ${JSON_BODY}${NEXT_LINE}-d '${JSON.stringify({ model, input: 'a switchyard' })}'`;
}
