import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { ApiError, request } from '../../api/client';
import { bytes } from '../../ui/format';
import { Icon } from '../../ui/icons';
import { Card } from '../../ui/parts';
import { Snippet } from '../../ui/snippet';
import { Blank, Problem, Skeleton } from '../../ui/states';
import { transcribeExample } from './examples';
import { type Listed, ModelChoice, NoModel, ofKind, type Priority, PriorityChoice, Timing } from './model-choice';

const FORMATS = ['json', 'text', 'srt', 'vtt', 'verbose_json'];

export function Transcribe({ models, wanted }: { models: readonly Listed[]; wanted: string }) {
  const own = ofKind(models, 'stt');
  const model = useSignal(own.find(({ id }) => id === wanted)?.id ?? own[0]?.id ?? '');
  const priority = useSignal<Priority>('realtime');
  const format = useSignal('json');
  const file = useSignal<File | undefined>(undefined);
  const state = useSignal<{ busy?: boolean; text?: string; headers?: Headers; error?: ApiError }>({});
  if (own.length === 0) return <NoModel kind="speech-to-text" />;
  const send = async () => {
    if (!file.value) return;
    state.value = { busy: true };
    const form = new FormData();
    for (const [name, value] of [
      ['model', model.value],
      ['response_format', format.value],
    ] as const)
      form.set(name, value);
    form.set('file', file.value, file.value.name);
    try {
      const headers = { 'x-priority': priority.value };
      const answer = await request('/v1/audio/transcriptions', { method: 'POST', body: form, headers });
      state.value = { text: readable(await answer.text(), format.value), headers: answer.headers };
    } catch (error) {
      state.value = { error: error as ApiError };
    }
  };
  return (
    <div class="split">
      <Card title="Audio to text">
        <div class="stack">
          <FileOrMicrophone file={file.value} choose={chosen => (file.value = chosen)} />
          <div class="filters">
            <ModelChoice models={own} chosen={model} />
            <PriorityChoice chosen={priority} />
            <label class="field">
              Format
              <select value={format.value} onChange={event => (format.value = event.currentTarget.value)}>
                {FORMATS.map(each => (
                  <option key={each}>{each}</option>
                ))}
              </select>
            </label>
          </div>
          <div class="inline">
            <button
              type="button"
              class="primary"
              disabled={!file.value || state.value.busy}
              onClick={() => void send()}
            >
              Transcribe
            </button>
          </div>
          {state.value.busy && <Skeleton rows={2} />}
          {state.value.error && <Problem error={state.value.error} />}
          {state.value.text !== undefined && (
            <div role="status">
              {state.value.text === '' ? (
                <Blank title="No words were heard" />
              ) : (
                <p class="answer">{state.value.text}</p>
              )}
              <Timing of={state.value.headers} />
            </div>
          )}
        </div>
      </Card>
      <Card title="The same in code">
        <Snippet of={transcribeExample(model.value, file.value?.name ?? 'audio.mp3', format.value)} />
      </Card>
    </div>
  );
}

const readable = (text: string, format: string): string =>
  format === 'json' ? (JSON.parse(text) as { text: string }).text : text;

function FileOrMicrophone({ file, choose }: { file: File | undefined; choose: (file: File) => void }) {
  return (
    <>
      <label
        class="drop"
        onDragOver={event => event.preventDefault()}
        onDrop={event => {
          event.preventDefault();
          const [dropped] = event.dataTransfer?.files ?? [];
          if (dropped) choose(dropped);
        }}
      >
        <Icon name="upload" size={22} />
        <span>{file ? `${file.name}, ${bytes(file.size)}` : 'Drop an audio file here, or choose one'}</span>
        <input
          class="visually-hidden"
          type="file"
          accept="audio/*,video/*"
          onChange={event => event.currentTarget.files?.[0] && choose(event.currentTarget.files[0])}
        />
      </label>
      <Recorder onDone={choose} />
    </>
  );
}

/** The microphone, as the browser itself records it. */
function Recorder({ onDone }: { onDone: (file: File) => void }) {
  const recorder = useSignal<MediaRecorder | undefined>(undefined);
  const problem = useSignal('');
  useEffect(() => () => recorder.peek()?.stop(), []);
  const start = async () => {
    problem.value = '';
    try {
      const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
      const made = new MediaRecorder(stream);
      const parts: Blob[] = [];
      made.ondataavailable = ({ data }) => parts.push(data);
      made.onstop = () => {
        for (const track of stream.getTracks()) track.stop();
        recorder.value = undefined;
        onDone(new File(parts, 'microphone.webm', { type: made.mimeType }));
      };
      made.start();
      recorder.value = made;
    } catch (error) {
      problem.value = `The microphone cannot be used: ${(error as Error).message}`;
    }
  };
  return (
    <div class="inline">
      <button
        type="button"
        aria-pressed={recorder.value !== undefined}
        onClick={() => (recorder.value ? recorder.value.stop() : void start())}
      >
        <Icon name="microphone" size={16} /> {recorder.value ? 'Stop recording' : 'Record instead'}
      </button>
      {problem.value && (
        <span class="state bad wrap" role="alert">
          {problem.value}
        </span>
      )}
    </div>
  );
}
