import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { request } from '../../api/client';
import { Field, Select } from '../../ui/controls';
import { speakExample } from './examples';
import { Choices, type PanelProps, Sending, TryOut, useChoice, useSending } from './panel';

export function Speak(props: PanelProps) {
  const choice = useChoice(props, 'tts');
  const { own, model, priority } = choice;
  const voice = useSignal('');
  const text = useSignal('Every request has a place in the queue.');
  const voices = own.find(({ id }) => id === model.value)?.voices ?? [];
  const spoken = voices.includes(voice.value) ? voice.value : (voices[0] ?? 'alloy');
  const { sent, send } = useSending(
    () => {
      const body = {
        model: model.value,
        voice: spoken,
        input: text.value,
        response_format: 'mp3',
      };
      const headers = { 'x-priority': priority.value };
      return request('/v1/audio/speech', { method: 'POST', body, headers });
    },
    async answer => URL.createObjectURL(await answer.blob()),
  );
  const url = sent.value.result;
  useEffect(() => () => URL.revokeObjectURL(url ?? ''), [url]);
  return (
    <TryOut
      of={choice}
      title="Text to audio"
      example={speakExample(model.value, spoken, text.value)}
    >
      <Field label="Text">
        <textarea
          value={text.value}
          maxLength={4096}
          onInput={event => (text.value = event.currentTarget.value)}
        />
      </Field>
      <Choices of={choice}>
        <Select
          label="Voice"
          value={spoken}
          of={voices.length > 0 ? voices : ['alloy']}
          onChange={value => (voice.value = value)}
        />
      </Choices>
      <Sending of={sent.value} verb="Speak" disabled={!text.value.trim()} send={send}>
        {src => <audio controls autoplay src={src} aria-label="The spoken text" />}
      </Sending>
    </TryOut>
  );
}
