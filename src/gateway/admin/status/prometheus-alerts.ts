import { Injectable } from '@nestjs/common';
import { parseBoundedJson } from '@switchyard/engine-api/bounded-json.js';
import { isObject } from '@switchyard/engine-api/is-object.js';
import { ProcessClock } from '../../../platform/clock/process-clock.js';
import { Settings } from '../../../platform/config/settings.js';
import { SafeFetch } from '../../../platform/http/safe-fetch.js';
import { unixSeconds } from '../../http/openapi/answer.js';

interface Alerts {
  readonly data: ReturnType<typeof alertsIn>;
  /** Why there are none: Prometheus did not answer as expected. */
  readonly problem?: string;
}

const RULES = { timeoutMs: 3000, maxBytes: 1_048_576 };
/** Several consoles ask Prometheus once. */
const KEPT_MS = 5000;
const MOST = 100;
const MAX_TEXT = 500;
const STATES = ['pending', 'firing'] as const;
const RUNBOOK = /^(https?:\/\/|docs\/)/;

/**
 * The alerts of `console.prometheus_url`. It may be a private address; redirects lead to
 * public ones only.
 */
@Injectable()
export class PrometheusAlerts {
  readonly #url: URL | undefined;
  readonly #fetch: SafeFetch | undefined;
  #kept: { readonly untilMs: number; readonly alerts: Promise<Alerts> } | undefined;

  constructor(
    { console: { prometheusUrl } }: Settings,
    private readonly clock: ProcessClock,
  ) {
    if (prometheusUrl === '') return;
    this.#url = new URL(`${prometheusUrl.replace(/\/+$/, '')}/api/v1/alerts`);
    this.#fetch = new SafeFetch({ ...RULES, allowHosts: this.#url.host });
  }

  get configured(): boolean {
    return this.#url !== undefined;
  }

  current(): Promise<Alerts> {
    const nowMs = this.clock.nowMs();
    if (!this.#kept || nowMs >= this.#kept.untilMs)
      this.#kept = { untilMs: nowMs + KEPT_MS, alerts: this.#ask() };
    return this.#kept.alerts;
  }

  async #ask(): Promise<Alerts> {
    if (!this.#url || !this.#fetch) return { data: [] };
    try {
      const answer = await this.#fetch.bytes(this.#url.href, AbortSignal.timeout(RULES.timeoutMs));
      return { data: alertsIn(parseBoundedJson(answer.toString())) };
    } catch (error) {
      return {
        data: [],
        problem: (error as Error).message.replaceAll('`file_url`', '`console.prometheus_url`'),
      };
    }
  }
}

/**
 * Firing ones first, then by name. @throws Error if it is no answer of `/api/v1/alerts`
 */
function alertsIn(answer: unknown) {
  const data = isObject(answer) && isObject(answer.data) ? answer.data.alerts : undefined;
  if (!Array.isArray(data))
    throw new Error('`console.prometheus_url` answered with something other than alerts.');
  return data
    .flatMap(alertOf)
    .sort((a, b) => a.state.localeCompare(b.state) || a.name.localeCompare(b.name))
    .slice(0, MOST);
}

/** `runbook_url`: a web address, or a path of this repository below `docs/`. */
function alertOf(value: unknown) {
  if (!isObject(value)) return [];
  const { activeAt, labels, annotations } = value;
  const state = STATES.find(one => one === value.state);
  const name = textIn(labels, 'alertname');
  const runbook = textIn(annotations, 'runbook_url') ?? '';
  const sinceMs = Date.parse(String(activeAt));
  if (name === undefined || !state || Number.isNaN(sinceMs)) return [];
  return [
    {
      name,
      state,
      severity: textIn(labels, 'severity') || undefined,
      summary: textIn(annotations, 'summary') || undefined,
      since: unixSeconds(sinceMs),
      runbook_url: RUNBOOK.test(runbook) ? runbook : undefined,
    },
  ];
}

function textIn(fields: unknown, name: string): string | undefined {
  const value = isObject(fields) ? fields[name] : undefined;
  return typeof value === 'string' ? value.slice(0, MAX_TEXT) : undefined;
}
