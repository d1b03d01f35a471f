/** The streams of an application. Their code is loaded when the first one is requested. */
import type { EventStreams, StreamsOptions } from './event-streams.ts'

/** Streams, whether one was requested yet or not. */
export interface LazyStreams extends Pick<EventStreams, 'wake' | 'recheck' | 'close'> {
  load(): Promise<EventStreams>
}

/** Makes the streams of an application. */
export function lazyStreams(options: StreamsOptions): LazyStreams {
  let loading: Promise<EventStreams> | undefined
  let streams: EventStreams | undefined
  let isClosed = false
  const load = async () => {
    const { EventStreams } = await import('./event-streams.ts')
    streams = new EventStreams(options)
    if (isClosed) streams.close()
    return streams
  }
  return {
    load() {
      loading ??= load()
      return loading
    },
    wake: () => streams?.wake(),
    recheck: () => streams?.recheck(),
    close() {
      isClosed = true
      streams?.close()
    },
  }
}
