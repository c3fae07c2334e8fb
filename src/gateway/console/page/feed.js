import { io } from '/console/realtime/socket.io.js';

/** Rooms `queue` and `workers` of `/events`, kept by their numbers: a gap is asked for again. */
export class Feed {
  #socket;
  #rooms;
  #on;

  constructor(on) {
    this.#on = on;
  }

  open(key) {
    this.#socket?.close();
    this.#rooms = { queue: new Map(), workers: new Map() };
    const socket = io('/events', { path: '/events/', transports: ['websocket'], auth: key ? { token: key } : {} });
    this.#socket = socket;
    socket.on('connect', () => this.#joinAll());
    socket.on('disconnect', () => this.#on.state('lost', 'Connection lost, trying again'));
    socket.on('connect_error', ({ message }) => this.#on.state('lost', message));
    socket.on('snapshot', snapshot => this.#adopt(snapshot));
    socket.on('delta', delta => this.#apply(delta));
    socket.on('gone', ({ room, source }) => {
      this.#rooms[room].delete(source);
      this.#show(room);
    });
  }

  #joinAll() {
    this.#on.state('live', 'Live');
    for (const room of Object.keys(this.#rooms)) {
      this.#rooms[room].clear();
      this.#ask('join', room);
    }
  }

  #ask(verb, room) {
    this.#socket.emit(verb, room, answer => {
      if (answer.ok) answer.snapshots.forEach(snapshot => this.#adopt(snapshot));
      else this.#on.state('lost', answer.error.message);
    });
  }

  #adopt({ room, source, seq, state }) {
    this.#rooms[room].set(source, { seq, state });
    this.#show(room);
  }

  #apply({ room, source, seq, set, removed = [] }) {
    const part = this.#rooms[room].get(source) ?? { seq: 0, state: {} };
    if (seq <= part.seq) return;
    if (seq !== part.seq + 1) return this.#ask('sync', room);
    const state = { ...part.state, ...set };
    for (const key of removed) delete state[key];
    this.#adopt({ room, source, seq, state });
  }

  #show(room) {
    this.#on[room]([...this.#rooms[room].values()].flatMap(({ state }) => Object.values(state)));
  }
}
