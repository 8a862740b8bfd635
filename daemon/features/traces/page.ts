import { TraceEvent } from '../../../src/model/trace.ts'
import { type Html, html } from '../../endpoint/html.ts'
import { factTable, page } from '../../endpoint/page.ts'
import type { TraceRow } from './rows.ts'

const sentences: Readonly<Record<TraceEvent['outcome'], string>> = {
  allowed_paid: 'The purchase was allowed and paid.',
  allowed_failed: 'The purchase was allowed, but failed.',
  denied: 'The purchase was denied.',
  abandoned: 'The purchase was abandoned.',
}

/** One purchase attempt for people to read: what was wanted, what was decided, what came of it. */
export function tracePage(row: TraceRow): Html {
  const event = TraceEvent.parse(row.event)
  const { intent, decision, payment, result } = event
  return page({
    title: `Trace ${row.id}`,
    body: html`<h1>${sentences[event.outcome]}</h1>
<p>Trace ${row.id}, recorded ${new Date(row.at).toISOString()} by ${event.source}. This page opens once.</p>
${part('Attempt', { id: event.id, at: event.at, outcome: event.outcome, source: event.source })}
${part('Intent', intent)}
${decision === null ? html`<h2>Decision</h2><p>No policy was asked.</p>` : part('Decision', decision)}
${payment ? part('Payment', payment) : null}
${result ? part('Result', result) : null}`,
  })
}

function part(title: string, facts: Readonly<Record<string, string | number | undefined>>): Html {
  const named = Object.entries(facts).map(([name, value]) => [name.replaceAll('_', ' '), value])
  return html`<h2>${title}</h2>
${factTable(Object.fromEntries(named))}`
}
