import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { LiveBatch } from '../../../../src/contracts/events/live-event';
import { get, post, request } from '../../api/client';
import { useResource } from '../../api/resource';
import { feed } from '../../live/feed';
import { go, href, place } from '../../router';
import { attempt, attemptConfirmed } from '../../ui/actions';
import { Button } from '../../ui/controls';
import { Finding } from '../../ui/finding';
import { count, duration, percent, perSecond } from '../../ui/format';
import { Icon } from '../../ui/icons';
import { Card, Facts, Figure, Page, State, Time } from '../../ui/parts';
import { Blank, Loaded } from '../../ui/states';
import { type Batch, isLive, Progress } from './batches';

/** One batch: how far it is, what failed, and its results. */
export function BatchPage() {
  const { id = '' } = place.value;
  const live = useSignal<LiveBatch | undefined>(undefined);
  const found = useResource(
    signal => get('/v1/batches/{id}', { id, signal }),
    `${id} ${live.value?.status ?? ''}`,
    live.value && !['completed', 'failed', 'expired', 'cancelled'].includes(live.value.status)
      ? 2000
      : 15_000,
  );
  useEffect(
    () => feed.watch(`batch:${id}`, entries => (live.value = entries[0] as LiveBatch | undefined)),
    [id],
  );
  return (
    <Page
      title={<span class="mono">{id}</span>}
      lead={<a href={href('batches')}>All batches</a>}
      actions={found.data && <Actions of={found.data} reload={found.reload} />}
    >
      <Loaded from={found} rows={6}>
        {batch => (
          <Detail
            of={{
              ...batch,
              request_counts: live.value?.request_counts ?? batch.request_counts,
            }}
          />
        )}
      </Loaded>
    </Page>
  );
}

function Actions({ of: batch, reload }: { of: Batch; reload: () => void }) {
  const { id, output_file_id: output, error_file_id: errors } = batch;
  const cancel = async () => {
    const question = [
      'Cancel this batch?',
      'Results so far are kept and can be downloaded.',
      'Cancel it',
    ] as const;
    const act = () => post('/v1/batches/{id}/cancel', { id });
    if (await attemptConfirmed(question, act, 'It is being cancelled.')) reload();
  };
  const retry = async () => {
    let made = '';
    const act = async () => void (made = (await post('/v1/batches/{id}/retry-failed', { id })).id);
    if (await attempt(act, 'A new batch with the failed lines is submitted.'))
      go(href('batches', made));
  };
  return (
    <>
      {output && <Download file={output} name={`${id}-results.jsonl`} label="Results" />}
      {errors && <Download file={errors} name={`${id}-errors.jsonl`} label="Errors" />}
      {!isLive(batch) && batch.request_counts.failed > 0 && (
        <Button act={retry}>Retry failed</Button>
      )}
      {isLive(batch) && (
        <Button kind="danger" act={cancel}>
          Cancel
        </Button>
      )}
    </>
  );
}

const Download = ({ file, name, label }: { file: string; name: string; label: string }) => (
  <a class="button" href={`/v1/files/${file}/content`} download={name}>
    <Icon name="download" size={16} /> {label}
  </a>
);

function Detail({ of: batch }: { of: Batch }) {
  const { status, request_counts: counts, rate_per_s: rate, eta_s: eta, errors } = batch;
  const ended = counts.completed + counts.failed;
  const share = counts.total > 0 ? ended / counts.total : 0;
  return (
    <>
      <Card
        title={<State of={status} />}
        aside={`${count(ended)} of ${count(counts.total)} requests`}
        class="why"
      >
        <Progress of={batch} />
      </Card>
      <dl class="figures">
        <Figure label="Done" value={percent(share)} note={`${count(counts.completed)} completed`} />
        <Figure
          label="Failed"
          value={count(counts.failed)}
          note="requests"
          tone={counts.failed > 0 && 'bad'}
        />
        {isLive(batch) && (
          <>
            <Figure
              label="Rate"
              value={rate === null ? 'unknown' : perSecond(rate)}
              note="requests"
            />
            <Figure
              label="Remaining"
              value={eta === null ? 'unknown' : duration(eta * 1000)}
              note="at this rate"
            />
          </>
        )}
      </dl>
      <div class="columns">
        <Card title="Facts">
          <Facts
            of={[
              ['Route', batch.endpoint],
              ['Model', batch.model],
              ['Created', <Time at={batch.created_at} />],
              ['Started', batch.in_progress_at && <Time at={batch.in_progress_at} />],
              ['Completed', batch.completed_at && <Time at={batch.completed_at} />],
              ['Deadline', <Time at={batch.expires_at} />],
              [
                'Retry of',
                batch.retry_of && <a href={href('batches', batch.retry_of)}>{batch.retry_of}</a>,
              ],
              ['Tokens', batch.usage && count(batch.usage.total_tokens)],
            ]}
          />
        </Card>
        <Card title="Errors by code">
          {errors && errors.data.length > 0 && (
            <ul class="stack">
              {errors.data.slice(0, 20).map(({ code, message, line }, row) => (
                <Finding key={row} name={line ? `Line ${line}` : ''} aside={<code>{code}</code>}>
                  <span class="state bad wrap">{message}</span>
                </Finding>
              ))}
            </ul>
          )}
          {batch.error_file_id ? (
            <ErrorsByCode file={batch.error_file_id} />
          ) : (
            !errors && (
              <Blank title={counts.failed > 0 ? 'Not counted yet' : 'None so far'}>
                Codes are counted when the batch has ended.
              </Blank>
            )
          )}
        </Card>
      </div>
    </>
  );
}

/** As much of the error file as is read for the counts. */
const MOST_BYTES = 1_000_000;

interface ErrorLine {
  readonly error?: { code?: string; message?: string } | null;
  readonly response?: { body?: { error?: { code?: string; message?: string } } } | null;
}

function ErrorsByCode({ file }: { file: string }) {
  const counted = useResource(async signal => {
    const answer = await request(`/v1/files/${file}/content`, {
      signal,
      headers: { range: `bytes=0-${MOST_BYTES - 1}` },
    });
    return countCodes(await answer.text());
  }, file);
  return (
    <Loaded from={counted}>
      {codes => (
        <ul class="stack">
          {codes.map(([code, { n, message }]) => (
            <Finding key={code} name={count(n)} aside={<code>{code}</code>}>
              <span class="muted">{message}</span>
            </Finding>
          ))}
        </ul>
      )}
    </Loaded>
  );
}

function countCodes(text: string): [string, { n: number; message: string }][] {
  const codes = new Map<string, { n: number; message: string }>();
  for (const line of text.split('\n').filter(Boolean)) {
    const { code = 'unknown', message = '' } = errorIn(line) ?? {};
    codes.set(code, { n: (codes.get(code)?.n ?? 0) + 1, message });
  }
  return [...codes].sort(([, a], [, b]) => b.n - a.n);
}

/** Undefined for the last line, when the file was cut there. */
function errorIn(line: string): { code?: string; message?: string } | undefined {
  try {
    const { error, response } = JSON.parse(line) as ErrorLine;
    return error ?? response?.body?.error;
  } catch {
    return undefined;
  }
}
