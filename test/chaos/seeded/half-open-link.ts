import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/**
 * A connection to a port of this machine that can fail as a cable does: neither end is told.
 */
export class HalfOpenLink implements AsyncDisposable {
  #isCut = false;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #flows = new Set<Flow>();
  /** Directions in which nothing moves. */
  #frozen: readonly Direction[] = [];

  constructor(private readonly target: number) {
    this.#server = createServer(near => this.#join(near));
  }

  /** @param port 0: any */
  async listen(port: number): Promise<void> {
    this.#server.listen(port, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  /**
   * What is sent from now on is lost, on the connections that are there and on new ones,
   * which are taken all the same.
   */
  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) discard(socket);
  }

  /**
   * New connections work again. The other end knows nothing of those of before: it resets one
   * when something is sent on it again, and the rest when a keep-alive would have asked.
   */
  heal(): void {
    this.#isCut = false;
    const silent = [...this.#sockets].filter(socket => SILENT.has(socket));
    for (const socket of silent) {
      if (HAS_SENT.has(socket)) socket.resetAndDestroy();
      else socket.on('data', () => socket.resetAndDestroy());
    }
    const asked = setTimeout(() => silent.forEach(socket => socket.destroy()), KEEP_ALIVE_MS);
    asked.unref();
  }

  /**
   * What is sent from now on waits, in these directions, on connections that are there and on
   * new ones: they stay open and say nothing.
   */
  freeze(...directions: readonly Direction[]): void {
    this.#frozen = directions;
    for (const flow of this.#flows) if (directions.includes(flow.direction)) stop(flow);
  }

  /** What waited arrives, the end of a connection included. */
  thaw(): void {
    this.#frozen = [];
    for (const flow of this.#flows) if (STOPPED.has(flow)) move(flow);
  }

  /** New connections work at once; those that are frozen stay so. */
  letOthersPass(): void {
    this.#frozen = [];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise(closed => this.#server.close(closed));
  }

  #join(near: Socket): void {
    const far = connect(this.target, '127.0.0.1');
    const flows: readonly Flow[] = [
      { from: near, to: far, direction: 'there' },
      { from: far, to: near, direction: 'back' },
    ];
    for (const flow of flows) {
      const { from, direction } = flow;
      this.#sockets.add(from);
      this.#flows.add(flow);
      from.on('error', () => undefined);
      from.on('close', () => {
        this.#sockets.delete(from);
        if (isSilent(from) || STOPPED.has(flow)) return;
        this.#flows.delete(flow);
        flow.to.destroy();
      });
      if (this.#frozen.includes(direction)) stop(flow);
      else move(flow);
    }
    if (this.#isCut) for (const socket of [near, far]) discard(socket);
  }
}

/** `there`: to the target. */
type Direction = 'there' | 'back';

interface Flow {
  readonly from: Socket;
  readonly to: Socket;
  readonly direction: Direction;
}

const STOPPED = new WeakSet<Flow>();

function stop(flow: Flow): void {
  STOPPED.add(flow);
  flow.from.unpipe(flow.to);
  flow.from.pause();
}

function move(flow: Flow): void {
  STOPPED.delete(flow);
  if (flow.from.destroyed) flow.to.destroy();
  else flow.from.pipe(flow.to);
}

/** After it healed: until then somebody may wait for what was lost. */
export const KEEP_ALIVE_MS = 30_000;
const SILENT = new WeakSet<Socket>();
/** It waits for an acknowledgement: the system sends it again. */
const HAS_SENT = new WeakSet<Socket>();
const isSilent = (socket: Socket): boolean => SILENT.has(socket);

/** Read, so that its end is noticed here, and thrown away. */
function discard(socket: Socket): void {
  SILENT.add(socket);
  socket.unpipe();
  socket.on('data', () => HAS_SENT.add(socket));
  socket.resume();
}
