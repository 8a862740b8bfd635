import { eventTypes } from '../src/model/event-types.ts'

/** The events that the daemon can write, as a page. */
export function eventsPage(): string {
  const lines = Object.entries(eventTypes).map(([type, meaning]) => `| \`${type}\` | ${meaning} |`)
  return [
    '# Events',
    '',
    'Written by `npm run docs` from `src/model/event-types.ts`, the list of what the daemon can write. `GET /v1/events` gives a participant its own events, as pages or as server-sent events: there the type is the name of the event (`addEventListener` takes it), the id is its cursor, and a client that reconnects with `Last-Event-ID` misses none. The first event of a stream is `connected`. Each has `id`, `event_id`, `cursor`, `created_at`, `type`, `subject` and `data`; more types may come.',
    '',
    '| Event | When |',
    '| --- | --- |',
    ...lines,
    '',
  ].join('\n')
}
