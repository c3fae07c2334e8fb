import { normalizeProps, useMachine } from '@zag-js/preact';
import * as tabs from '@zag-js/tabs';
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

interface Options {
  readonly label: string;
  readonly of: readonly {
    value: string;
    label: string;
    content: () => ComponentChildren;
  }[];
  readonly value?: string;
  readonly onChange?: (value: string) => void;
}

/** Tabs with the keys that people know; only the chosen one exists. */
export function Tabs({ label, of, value, onChange }: Options) {
  const service = useMachine(tabs.machine, {
    id: useId(),
    ...(value === undefined ? { defaultValue: of[0]?.value ?? null } : { value }),
    onValueChange: details => onChange?.(details.value),
    translations: { listLabel: label },
  });
  const api = tabs.connect(service, normalizeProps);
  const chosen = of.find(each => each.value === api.value);
  return (
    <div class="tabs" {...api.getRootProps()}>
      <div {...api.getListProps()} aria-label={label}>
        {of.map(each => (
          <button type="button" key={each.value} {...api.getTriggerProps({ value: each.value })}>
            {each.label}
          </button>
        ))}
      </div>
      {of.map(each => (
        <div key={each.value} {...api.getContentProps({ value: each.value })}>
          {each === chosen && each.content()}
        </div>
      ))}
    </div>
  );
}
