import { type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { type FastifyRequest } from 'fastify';
import { map } from 'rxjs';

/** What it reads of an entry of `GET /v1/models`. */
interface ListedModel {
  readonly id: string;
  readonly kind: string;
  readonly created: number;
}

/**
 * Clients of the Messages API say so by `anthropic-version`, and get models in its shape: those
 * that `/v1/messages` serves, on one page.
 */
export class MessagesModelsInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler<ListedModel | { data: ListedModel[] }>) {
    const { headers } = context.switchToHttp().getRequest<FastifyRequest>();
    const answer = next.handle();
    if (headers['anthropic-version'] === undefined) return answer;
    return answer.pipe(map(told => ('data' in told ? pageOf(told.data) : modelOf(told))));
  }
}

function pageOf(models: readonly ListedModel[]) {
  const data = models.filter(({ kind }) => kind === 'llm').map(modelOf);
  return { data, has_more: false, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
}

/** Null: not known here. */
const modelOf = ({ id, created }: ListedModel) => ({
  type: 'model',
  id,
  display_name: id,
  created_at: new Date(created * 1000).toISOString(),
  lifecycle: 'active',
  line: null,
  capabilities: null,
  max_input_tokens: null,
  max_tokens: null,
  deprecated_at: null,
  retires_at: null,
});
