import { useSignal } from '@preact/signals';
import { type Answer, get } from '../../api/client';
import { useResource } from '../../api/resource';
import { href } from '../../router';
import { duration, count, percent } from '../../ui/format';
import { Bar, Card, Page, State, Time } from '../../ui/parts';
import { Blank, Loaded } from '../../ui/states';
import { SubmitDialog } from './submit';

export type Batch = Answer<'/v1/batches/{id}'>;

export const isLive = ({ status }: Batch): boolean =>
  ['validating', 'in_progress', 'finalizing', 'cancelling'].includes(status);

export default function Batches() {
  const list = useResource(signal => get('/v1/batches', { query: { limit: 100 }, signal }), 'batches', 2000);
  const submitting = useSignal(false);
  const open = (
    <button type="button" class="primary" onClick={() => (submitting.value = true)}>
      Submit a batch
    </button>
  );
  return (
    <Page title="Batches" lead="Files of requests that are worked through in the background." actions={open}>
      <Loaded from={list} rows={5}>
        {({ data }) => (
          <Card>
            {data.length === 0 ? (
              <Blank icon="batches" title="No batches yet">
                A batch is a file with one request a line. Submit one to see its progress here.
              </Blank>
            ) : (
              <Table of={data as Batch[]} />
            )}
          </Card>
        )}
      </Loaded>
      <SubmitDialog open={submitting.value} onClose={() => (submitting.value = false)} />
    </Page>
  );
}

function Table({ of: batches }: { of: readonly Batch[] }) {
  return (
    <div class="table-box flush" tabIndex={0} role="region" aria-label="Batches">
      <table>
        <thead>
          <tr>
            <th scope="col">Batch</th>
            <th scope="col">State</th>
            <th scope="col">Progress</th>
            <th scope="col" class="number">
              Failed
            </th>
            <th scope="col">Remaining</th>
            <th scope="col">Created</th>
          </tr>
        </thead>
        <tbody>
          {batches.map(batch => {
            const { id, status, endpoint, request_counts: counts, created_at: created } = batch;
            const ended = counts.completed + counts.failed;
            return (
              <tr key={id}>
                <th scope="row">
                  <a class="mono" href={href('batches', id)}>
                    {id}
                  </a>
                  <span class="muted sub">{endpoint}</span>
                </th>
                <td>
                  <State of={status} />
                </td>
                <td class="progress-cell">
                  <Bar
                    value={ended}
                    max={counts.total}
                    label={`${count(ended)} of ${count(counts.total)} requests`}
                    tone={status === 'completed' ? 'good' : ''}
                  />
                  <span class="muted sub">
                    {count(ended)} of {count(counts.total)}
                    {counts.total > 0 && `, ${percent(ended / counts.total)}`}
                  </span>
                </td>
                <td class="number">{counts.failed > 0 ? <span class="state bad">{count(counts.failed)}</span> : 0}</td>
                <td>{remaining(batch)}</td>
                <td>
                  <Time at={created} />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

export function remaining(batch: Batch): string {
  if (batch.status === 'in_progress' && batch.eta_s !== null) return `about ${duration(batch.eta_s * 1000)}`;
  return isLive(batch) ? 'soon known' : '';
}
