import type { ComponentChildren } from 'preact';
import type { ApiError } from '../api/client';
import type { Resource } from '../api/resource';
import { Button } from './controls';
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
        This version of the gateway has no such route.
      </Blank>
    );
  }
  if (error.isForbidden) {
    return (
      <Blank icon="tenants" title="Your key has no access to this">
        {error.message}
      </Blank>
    );
  }
  return (
    <Blank icon="alert" tone="bad" title={error.message}>
      {retry && <Button act={retry}>Try again</Button>}
    </Blank>
  );
}

export const Skeleton = ({ rows = 3 }: { rows?: number }) => (
  <div class="skeleton stack" role="status" aria-label="Loading">
    {Array.from({ length: rows }, (_, row) => (
      <span key={row} />
    ))}
  </div>
);

interface LoadedProps<T> {
  readonly from: Resource<T>;
  readonly rows?: number;
  /** Drawn instead of a list without entries. */
  readonly none?: ComponentChildren;
  readonly children: (data: T) => ComponentChildren;
}

const isEmpty = (data: unknown): boolean => {
  const list = (data as { data?: unknown } | null)?.data ?? data;
  return Array.isArray(list) && list.length === 0;
};

/**
 * Loading, failed, or the data: `children` draws it. A later failure leaves the last data
 * standing, and says so.
 */
export function Loaded<T>({ from, rows, none, children }: LoadedProps<T>) {
  if (from.data === undefined)
    return from.error ? (
      <Problem error={from.error} retry={from.reload} />
    ) : (
      <Skeleton rows={rows} />
    );
  return (
    <>
      {from.error && (
        <p class="state warn sub" role="status">
          Not up to date: {from.error.message}
        </p>
      )}
      {none && isEmpty(from.data) ? none : children(from.data)}
    </>
  );
}
