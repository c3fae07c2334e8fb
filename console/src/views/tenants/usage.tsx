import { useSignal } from '@preact/signals';
import { request, search } from '../../api/client';
import { useResource } from '../../api/resource';
import { count, duration } from '../../ui/format';
import { Card } from '../../ui/parts';
import { Blank, Loaded } from '../../ui/states';

interface Row {
  readonly day?: string;
  readonly tenant?: string;
  readonly model?: string;
  readonly requests: number;
  readonly completed: number;
  readonly failed: number;
  readonly audio_s: number;
  readonly characters: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly device_ms: number;
}

const DAYS = [1, 7, 30, 90];
const GROUPS = [
  ['day,tenant', 'Day and tenant'],
  ['tenant,model', 'Tenant and model'],
  ['day', 'Day'],
  ['model', 'Model'],
] as const;

const dayBefore = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);

export function Usage() {
  const days = useSignal(7);
  const group = useSignal<string>(GROUPS[0][0]);
  const path = `/admin/v1/usage${search({ from: dayBefore(days.value - 1), to: dayBefore(0), group_by: group.value })}`;
  const list = useResource(
    async signal => (await (await request(path, { signal })).json()) as { data: Row[] },
    path,
    30_000,
  );
  return (
    <Card
      title="Usage"
      aside={
        <>
          <select
            aria-label="Days"
            value={days.value}
            onChange={event => (days.value = Number(event.currentTarget.value))}
          >
            {DAYS.map(each => (
              <option key={each} value={each}>
                {each === 1 ? 'Today' : `${each} days`}
              </option>
            ))}
          </select>
          <select
            aria-label="Grouped by"
            value={group.value}
            onChange={event => (group.value = event.currentTarget.value)}
          >
            {GROUPS.map(([value, name]) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </select>
        </>
      }
    >
      <Loaded from={list}>
        {({ data }) => (data.length === 0 ? <Blank title="Nothing was used" /> : <Table of={data} />)}
      </Loaded>
    </Card>
  );
}

function Table({ of: rows }: { of: readonly Row[] }) {
  return (
    <div class="table-box flush" tabIndex={0} role="region" aria-label="Usage">
      <table>
        <thead>
          <tr>
            <th scope="col">Of</th>
            {['Requests', 'Failed', 'Audio', 'Characters', 'Tokens in', 'Tokens out', 'Device time'].map(name => (
              <th scope="col" class="number" key={name}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              <th scope="row">{[row.day, row.tenant, row.model].filter(Boolean).join(', ')}</th>
              <td class="number">{count(row.requests)}</td>
              <td class="number">{count(row.failed)}</td>
              <td class="number">{duration(row.audio_s * 1000)}</td>
              <td class="number">{count(row.characters)}</td>
              <td class="number">{count(row.input_tokens)}</td>
              <td class="number">{count(row.output_tokens)}</td>
              <td class="number">{duration(row.device_ms)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
