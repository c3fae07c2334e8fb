import type { Signal } from '@preact/signals';
import type { Answer } from '../../api/client';
import { Blank } from '../../ui/states';
import { duration } from '../../ui/format';

export type Listed = Answer<'/v1/models'>['data'][number];

export const ofKind = (models: readonly Listed[], kind: Listed['kind']): Listed[] =>
  models.filter(each => each.kind === kind && each.id === each.root);

export function ModelChoice({ models, chosen }: { models: readonly Listed[]; chosen: Signal<string> }) {
  return (
    <label class="field">
      Model
      <select value={chosen.value} onChange={event => (chosen.value = event.currentTarget.value)}>
        {models.map(({ id }) => (
          <option key={id}>{id}</option>
        ))}
      </select>
    </label>
  );
}

export type Priority = 'realtime' | 'batch';

export function PriorityChoice({ chosen }: { chosen: Signal<Priority> }) {
  return (
    <label class="field">
      Priority
      <select value={chosen.value} onChange={event => (chosen.value = event.currentTarget.value as Priority)}>
        <option value="realtime">Realtime</option>
        <option value="batch">Batch</option>
      </select>
    </label>
  );
}

export const NoModel = ({ kind }: { kind: string }) => (
  <Blank icon="models" title={`No ${kind} model is served here`}>
    Add one to the models file.
  </Blank>
);

/** What the headers of an answer say of its way. */
export function Timing({ of: headers }: { of: Headers | undefined }) {
  if (!headers) return null;
  const ms = (name: string) => {
    const value = headers.get(`x-switchyard-${name}-ms`);
    return value === null ? undefined : duration(Number(value));
  };
  const parts: [string, string | undefined | null][] = [
    ['Waited', ms('queue')],
    ['Window', ms('batch-wait')],
    ['Device', ms('device')],
    ['First token', ms('ttft')],
    ['In a group of', headers.get('x-switchyard-batch-size')],
    ['In all', headers.get('openai-processing-ms') && duration(Number(headers.get('openai-processing-ms')))],
    ['Ignored', headers.get('x-switchyard-ignored')],
  ];
  return (
    <p class="timing">
      {parts
        .filter(([, value]) => value)
        .map(([name, value]) => (
          <span key={name}>
            {name} <b>{value}</b>
          </span>
        ))}
    </p>
  );
}
