import type { Answer } from '../api/client';
import type { Resource } from '../api/resource';
import { Time } from './parts';
import { Loaded } from './states';

interface LogProps {
  readonly of: Resource<Answer<'/admin/v1/logs'>>;
  readonly label: string;
  /** Said instead of no lines. */
  readonly none: string;
}

/** Lines as a program wrote them, newest last. */
export const Log = ({ of, label, none }: LogProps) => (
  <Loaded from={of} none={<p class="state good">{none}</p>}>
    {({ data }) => (
      <pre class="log" tabIndex={0} aria-label={label}>
        <div>
          {data.map(({ at, level, text }, row) => (
            <div key={row}>
              <span class="muted">
                <Time at={at} /> {level}
              </span>{' '}
              {text}
            </div>
          ))}
        </div>
      </pre>
    )}
  </Loaded>
);
