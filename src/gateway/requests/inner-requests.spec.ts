import { describe, expect, it } from '@jest/globals';
import { type HttpAdapterHost } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { InnerRequests } from './inner-requests.js';

describe('InnerRequests', () => {
  it('says shutting_down of a server that has closed, so that another gateway runs the request', async () => {
    const httpAdapter = new FastifyAdapter();
    await httpAdapter.init();
    await httpAdapter.getInstance().ready();
    await httpAdapter.close();
    const inner = new InnerRequests({ httpAdapter } as HttpAdapterHost<FastifyAdapter>);
    const caller = new AbortController().signal;
    const request = { requestId: 'r1', tenant: 'acme', path: '/v1/chat/completions', headers: {} };
    await expect(inner.run({ ...request, body: Buffer.from('{}'), caller })).rejects.toMatchObject({
      code: 'shutting_down',
    });
  });
});
