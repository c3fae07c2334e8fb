import { io, type Socket } from 'socket.io-client';
import {
  type ClientToServerEvents,
  LIVE_PATH,
  type LiveAnswer,
  type LiveDelta,
  type LiveRequest,
  type LiveRoomName,
  type LiveSnapshot,
  type LiveState,
  type ServerToClientEvents,
} from '../../../src/contracts/events/live-event.js';
import { LiveView } from '../../../src/contracts/events/live-view.js';

export type Answered = Extract<LiveAnswer, { ok: true }>;

/** A client as docs/reference/events.md tells to write one: snapshots, deltas, gaps. */
export class FeedClient implements Disposable {
  readonly deltas: LiveDelta[] = [];
  readonly snapshots: LiveSnapshot[] = [];
  readonly views = new Map<LiveRoomName, LiveView>();
  /** Deltas that did not follow the one before. */
  gaps = 0;

  private constructor(readonly socket: Socket<ServerToClientEvents, ClientToServerEvents>) {
    socket.on('snapshot', snapshot => {
      this.snapshots.push(snapshot);
      this.view(snapshot.room).adopt(snapshot);
    });
    socket.on('delta', delta => {
      this.deltas.push(delta);
      if (!this.view(delta.room).apply(delta)) this.gaps++;
    });
    socket.on('gone', gone => this.view(gone.room).drop(gone));
  }

  /** Rejects with what the server said. */
  static async connect(
    url: string,
    token?: string,
    headers: Record<string, string> = {},
  ): Promise<FeedClient> {
    const socket: Socket<ServerToClientEvents, ClientToServerEvents> = io(`${url}/events`, {
      path: LIVE_PATH,
      transports: ['websocket'],
      reconnection: false,
      forceNew: true,
      auth: token === undefined ? {} : { token },
      extraHeaders: headers,
    });
    const client = new FeedClient(socket);
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('connect_error', error => {
        socket.disconnect();
        reject(error);
      });
    });
    return client;
  }

  ask(verb: keyof ClientToServerEvents, room: string): Promise<LiveAnswer> {
    return new Promise(resolve => this.socket.emit(verb, room, resolve));
  }

  async join(room: LiveRoomName): Promise<Answered> {
    return this.#adopt(await this.ask('join', room));
  }

  async sync(room: LiveRoomName): Promise<Answered> {
    return this.#adopt(await this.ask('sync', room));
  }

  view(room: LiveRoomName): LiveView {
    const known = this.views.get(room);
    if (known) return known;
    const view = new LiveView(room);
    this.views.set(room, view);
    return view;
  }

  /** All gateways' parts of a room in one; for rooms whose keys do not meet. */
  state(room: LiveRoomName): LiveState {
    return Object.assign(
      {},
      ...this.view(room)
        .snapshots()
        .map(({ state }) => state),
    ) as LiveState;
  }

  request(id: string): LiveRequest | undefined {
    return this.state(`request:${id}`)[id] as LiveRequest | undefined;
  }

  [Symbol.dispose](): void {
    this.socket.disconnect();
  }

  #adopt(answer: LiveAnswer): Answered {
    if (!answer.ok) throw new Error(answer.error.message);
    for (const snapshot of answer.snapshots) this.view(answer.room).adopt(snapshot);
    return answer;
  }
}
