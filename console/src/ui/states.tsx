import type { ComponentChildren } from 'preact';
import type { ApiError } from '../api/client';
import type { Resource } from '../api/resource';
import { Icon, type IconName } from './icons';

interface Message {
  readonly icon?: IconName;
  readonly title: string;
  readonly children?: ComponentChildren;
  readonly tone?: 'bad';
}

/** Nothing to show, and why. */
export function Blank({ icon = 'empty', title, children, tone }: Message) {
  return (
    <div class={`blank ${tone ?? ''}`} role={tone ? 'alert' : undefined}>
      <Icon name={icon} size={28} />
      <p class="blank-title">{title}</p>
      {children && <div class="muted">{children}</div>}
    </div>
  );
}

export function Problem({ error, retry }: { error: ApiError; retry?: () => void }) {
  if (error.isMissing) {
    return (
      <Blank title="Not available on this server">
        The gateway does not answer this question. A newer version may.
      </Blank>
    );
  }
  if (error.isForbidden) {
    return (
      <Blank icon="tenants" title="Your key may not see this">
        It needs another scope. {error.message}
      </Blank>
    );
  }
  return (
    <Blank icon="alert" tone="bad" title={error.message}>
      {retry && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </Blank>
  );
}

export const Skeleton = ({ rows = 3 }: { rows?: number }) => (
  <div class="skeleton" role="status" aria-label="Loading">
    {Array.from({ length: rows }, (_, row) => (
      <span key={row} />
    ))}
  </div>
);

/** Loading, failed, or the data: `children` draws it. A later failure leaves the last data standing, and says so. */
export function Loaded<T>({
  from,
  rows,
  children,
}: {
  from: Resource<T>;
  rows?: number;
  children: (data: T) => ComponentChildren;
}) {
  if (from.data === undefined)
    return from.error ? <Problem error={from.error} retry={from.reload} /> : <Skeleton rows={rows} />;
  return (
    <>
      {from.error && (
        <p class="stale" role="status">
          Not current: {from.error.message}
        </p>
      )}
      {children(from.data)}
    </>
  );
}
