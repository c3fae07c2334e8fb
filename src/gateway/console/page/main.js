import { Feed } from '/console/realtime/feed.js';
import { Microphone } from '/console/realtime/microphone.js';
import { Transcription } from '/console/realtime/transcription.js';

const at = id => document.getElementById(id);
const KEY = 'switchyard.key';

function element(tag, className, ...content) {
  const made = document.createElement(tag);
  made.className = className;
  made.append(...content);
  return made;
}

function showState(id, state, text) {
  at(id).dataset.state = state;
  at(id).textContent = text;
}

function showProblem(text) {
  at('problem').textContent = text;
  at('problem').hidden = text === '';
}

/** The paragraph of one spoken item. */
function paragraph(item) {
  const transcript = at('transcript');
  transcript.querySelector('.hint')?.remove();
  const known = transcript.querySelector(`[data-item="${CSS.escape(item)}"]`);
  if (known) return known;
  const made = element('p', 'partial');
  made.dataset.item = item;
  transcript.append(made);
  return made;
}

function showText(item, text, className) {
  const line = paragraph(item);
  line.textContent = text;
  line.className = className;
  if (text === '') line.remove();
  at('transcript').scrollTop = at('transcript').scrollHeight;
}

const feed = new Feed({
  state: (state, text) => showState('feed', state, text),
  queue: lines => at('queue').replaceChildren(...summed(lines).map(queueCard)),
  workers: workers => at('workers').replaceChildren(...workers.map(workerChip)),
});

/** One line per model over all gateways. */
function summed(lines) {
  const models = new Map();
  for (const { model, ...counts } of lines) {
    const sum = models.get(model) ?? {};
    for (const [name, count] of Object.entries(counts)) sum[name] = (sum[name] ?? 0) + count;
    models.set(model, sum);
  }
  return [...models];
}

function queueCard([model, { realtime, batch, running, completed }]) {
  const counts = [`${realtime + batch} waiting`, `${running} running`, `${completed} done`];
  return element('div', 'card', element('b', '', model), ...counts.map(count => element('span', '', count)));
}

function workerChip({ id, state, in_use: inUse, slots }) {
  const tone = state === 'ready' || state === 'busy' ? 'live' : 'lost';
  const text = element('span', 'state', `${id} · ${state} · ${inUse}/${slots}`);
  text.dataset.state = tone;
  return element('div', 'chip', text);
}

const microphone = new Microphone();
let session;

async function start() {
  showProblem('');
  session = new Transcription({
    state: (state, text) => showState('state', state, text),
    partial: (item, text) => showText(item, text, 'partial'),
    final: (item, text) => showText(item, text, ''),
    problem: showProblem,
  });
  try {
    await microphone.start((audio, level) => {
      at('level').value = level;
      session?.send(audio);
    });
    session.open({ key: at('key').value, model: at('model').value });
    setRecording(true);
  } catch (error) {
    session = undefined;
    await microphone.stop();
    showProblem(`The microphone cannot be used: ${error.message}`);
  }
}

async function stop() {
  setRecording(false);
  session.finish();
  session = undefined;
  await microphone.stop();
  at('level').value = 0;
}

function setRecording(recording) {
  at('record').setAttribute('aria-pressed', String(recording));
  at('record').lastElementChild.textContent = recording ? 'Stop' : 'Start listening';
}

async function listModels() {
  const key = at('key').value;
  const answer = await fetch('/v1/models', { headers: key ? { authorization: `Bearer ${key}` } : {} });
  const { data = [] } = await answer.json();
  const ids = new Set(data.filter(({ kind }) => kind === 'stt').map(({ root }) => root));
  const options = [...ids].map(id => new Option(id, id));
  at('model').replaceChildren(new Option('server default', ''), ...options);
}

function connect() {
  feed.open(at('key').value);
  listModels().catch(() => showProblem('The models could not be listed.'));
}

at('record').addEventListener('click', () => void (session ? stop() : start()));
at('key').value = sessionStorage.getItem(KEY) ?? '';
at('key').addEventListener('change', () => {
  sessionStorage.setItem(KEY, at('key').value);
  connect();
});
connect();
