import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { request } from '../../api/client';
import { bound, Button, Drop, Select } from '../../ui/controls';
import { Icon } from '../../ui/icons';
import { Blank } from '../../ui/states';
import { transcribeExample } from './examples';
import { Choices, type PanelProps, Sending, TryOut, useChoice, useSending } from './panel';

const FORMATS = ['json', 'text', 'srt', 'vtt', 'verbose_json'];

export function Transcribe(props: PanelProps) {
  const choice = useChoice(props, 'stt');
  const { model, priority } = choice;
  const format = useSignal('json');
  const file = useSignal<File | undefined>(undefined);
  const { sent, send } = useSending(
    () => {
      const form = new FormData();
      form.set('model', model.value);
      form.set('response_format', format.value);
      if (file.value) form.set('file', file.value, file.value.name);
      const headers = { 'x-priority': priority.value };
      return request('/v1/audio/transcriptions', {
        method: 'POST',
        body: form,
        headers,
      });
    },
    async answer => readable(await answer.text(), format.value),
  );
  return (
    <TryOut
      of={choice}
      title="Audio to text"
      example={transcribeExample(model.value, file.value?.name ?? 'audio.mp3', format.value)}
    >
      <Drop
        file={file.value}
        choose={chosen => (file.value = chosen)}
        prompt="Drop an audio file here, or choose one"
        accept="audio/*,video/*"
      />
      <Recorder onDone={recorded => (file.value = recorded)} />
      <Choices of={choice}>
        <Select label="Format" of={FORMATS} {...bound(format)} />
      </Choices>
      <Sending of={sent.value} verb="Transcribe" disabled={!file.value} send={send}>
        {text =>
          text === '' ? <Blank title="No speech was recognized" /> : <p class="answer">{text}</p>
        }
      </Sending>
    </TryOut>
  );
}

const readable = (text: string, format: string): string =>
  format === 'json' ? (JSON.parse(text) as { text: string }).text : text;

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
      <Button
        aria-pressed={recorder.value !== undefined}
        act={() => (recorder.value ? recorder.value.stop() : start())}
      >
        <Icon name="microphone" size={16} /> {recorder.value ? 'Stop recording' : 'Record instead'}
      </Button>
      {problem.value && (
        <span class="state bad wrap" role="alert">
          {problem.value}
        </span>
      )}
    </div>
  );
}
