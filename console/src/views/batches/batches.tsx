import { useSignal } from '@preact/signals';
import type { Answer } from '../../api/client';
import { useGet } from '../../api/resource';
import { href } from '../../router';
import { Button } from '../../ui/controls';
import { count, duration, percent } from '../../ui/format';
import { Bar, Card, Page, State, Time } from '../../ui/parts';
import { Blank, Loaded } from '../../ui/states';
import { below, type Column, Table } from '../../ui/table';
import { SubmitDialog } from './submit';

export type Batch = Answer<'/v1/batches/{id}'>;

export const isLive = ({ status }: Batch): boolean =>
  ['validating', 'in_progress', 'finalizing', 'cancelling'].includes(status);

export function Batches() {
  const list = useGet('/v1/batches', { query: { limit: 100 }, everyMs: 2000 });
  const submitting = useSignal(false);
  const open = (
    <Button kind="primary" act={() => (submitting.value = true)}>
      Submit a batch
    </Button>
  );
  const none = (
    <Blank icon="batches" title="No batches yet">
      A batch is a file with one request per line.
    </Blank>
  );
  return (
    <Page title="Batches" lead="Files of requests, processed in the background." actions={open}>
      <Card>
        <Loaded from={list} rows={5} none={none}>
          {({ data }) => <Table label="Batches" of={data as Batch[]} columns={COLUMNS} />}
        </Loaded>
      </Card>
      <SubmitDialog open={submitting.value} onClose={() => (submitting.value = false)} />
    </Page>
  );
}

const COLUMNS: readonly Column<Batch>[] = [
  [
    'Batch',
    ({ id, endpoint }) => [
      <a class="mono" href={href('batches', id)}>
        {id}
      </a>,
      below(endpoint),
    ],
  ],
  ['State', ({ status }) => <State of={status} />],
  ['Progress', batch => <Progress of={batch} withText />],
  [
    'Failed',
    ({ request_counts: { failed } }) =>
      failed > 0 ? <span class="state bad">{count(failed)}</span> : 0,
    'number',
  ],
  ['Remaining', batch => remaining(batch)],
  ['Created', ({ created_at: at }) => <Time at={at} />],
];

export function Progress({
  of: { status, request_counts: counts },
  withText,
}: {
  of: Batch;
  withText?: boolean;
}) {
  const ended = counts.completed + counts.failed;
  const said = `${count(ended)} of ${count(counts.total)}`;
  return (
    <span class="progress-cell">
      <Bar
        value={ended}
        max={counts.total}
        label={`${said} requests`}
        tone={status === 'completed' ? 'good' : ''}
      />
      {withText && below(said + (counts.total > 0 ? `, ${percent(ended / counts.total)}` : ''))}
    </span>
  );
}

function remaining(batch: Batch): string {
  if (batch.status === 'in_progress' && batch.eta_s !== null)
    return `about ${duration(batch.eta_s * 1000)}`;
  return isLive(batch) ? 'estimating' : '';
}
