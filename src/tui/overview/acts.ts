import { ask, refuse } from '../shell/ask.ts'
import { copy } from '../shell/copy.ts'
import { runDialog } from '../shell/cron-dialogs.ts'
import type { CronFacts } from '../shell/cron-facts.ts'
import type { Need } from '../shell/needs.ts'
import { shellCommand } from '../shell/pause-dialog.ts'
import type { Face } from '../shell/screen.ts'
import { chosenIndex, type OverviewPanel, seriesSpans } from '../shell/ui.ts'
import { heldFor, type MendAct, mends } from './inbox.ts'
import { putOffChoices } from './put-off.ts'
import { idsIn, openNeed, openPanel, type Walked } from './walk.ts'

/** The chosen one is looked up when the key comes: one before it, in the same piece of input, may have moved it. */
export function actionsOn(walked: Walked): Face['actions'] {
  const { host, rows, panel } = walked
  const chosenId = () => {
    const ui = host.ui.get()
    const ids = idsIn(panel(), rows)
    return ids[chosenIndex(ui, ids)]
  }
  /** Nobody mends what is not chosen: while another panel is walked, none of what waits is. */
  const chosenNeed = () => (panel() === 'needs' ? rows.needs.find(({ id }) => id === chosenId()) : undefined)
  const chosenCron = () => (panel() === 'crons' ? rows.crons.find(({ name }) => name === chosenId()) : undefined)
  const mendIt = (need: Need) => void import('./mend.ts').then(({ mend }) => mend(host, need))
  const ofAct = (act: MendAct) => () => {
    const need = chosenNeed()
    if (need === undefined) refuse(host, nothingChosen(panel(), 'Nothing waits that this would mend.'))
    else if (mends[need.kind]?.act === act) mendIt(need)
    else refuse(host, `That does not mend what is chosen: ${need.kind.replaceAll('_', ' ')}.  → enter`)
  }
  return {
    open() {
      const at = panel()
      const need = chosenNeed()
      if (at !== 'needs') openPanel(walked, at, chosenId())
      else if (need === undefined) return
      else if (mends[need.kind] === undefined || host.readonly) openNeed(host, need)
      else mendIt(need)
    },
    ...copyActions(walked, { chosenId, chosenNeed, chosenCron }),
    giveBack() {
      const need = chosenNeed()
      if (need === undefined) refuse(host, nothingChosen(panel(), 'Nothing waits that money could be given back for.'))
      else if (heldFor.has(need.kind)) void import('./mend.ts').then(({ giveBack }) => giveBack(host, need.subject))
      else refuse(host, `No money of a job waits there: it is about ${need.kind.replaceAll('_', ' ')}.`)
    },
    putOff() {
      if (putOffChoices(host).length === 0) refuse(host, nothingChosen(panel(), 'Nothing waits that could be put off.'))
      else host.ui.set({ ...host.ui.get(), picker: { kind: 'putOff', text: '', at: 0 } })
    },
    runCron() {
      const cron = chosenCron()
      if (cron === undefined) ofAct('runCron')()
      else ask(host, runDialog(host, cron))
    },
    decide: ofAct('decide'),
    testHook: ofAct('testHook'),
    span() {
      const ui = host.ui.get()
      const next = seriesSpans[(seriesSpans.indexOf(ui.span) + 1) % seriesSpans.length]
      if (next !== undefined) host.ui.set({ ...ui, span: next })
    },
  }
}

type Chosen = {
  readonly chosenId: () => string | undefined
  readonly chosenNeed: () => Need | undefined
  readonly chosenCron: () => CronFacts | undefined
}

function copyActions({ host, rows, panel }: Walked, { chosenId, chosenNeed, chosenCron }: Chosen): Face['actions'] {
  return {
    copyId() {
      const id = chosenId()
      const event = panel() === 'live' ? rows.events.find(({ cursor }) => String(cursor) === id) : undefined
      const copied = event?.subject ?? chosenNeed()?.subject ?? id
      if (copied !== undefined) copy(host, copied)
    },
    copyCommand() {
      const need = chosenNeed()
      const cron = chosenCron()
      if (need !== undefined) copy(host, need.fix)
      else if (cron !== undefined) copy(host, shellCommand(host, ['crons', 'run', cron.name]))
    },
  }
}

/** Why nothing is mended: nothing waits, or something else is walked. */
function nothingChosen(panel: OverviewPanel, nothing: string): string {
  return panel === 'needs' ? nothing : 'What waits is walked first: tab leads there.'
}
