import { shellWord } from '../../text/text.ts'
import { type DialogSpec, type Field, type OpenSpec, openDialog } from './dialog.ts'
import { placeOf } from './places.ts'
import type { Host } from './screen.ts'
import type { Toast } from './ui.ts'

const TOAST_MS = 5_000

/** What a change returns when it is sent. */
export type Sent = ReturnType<DialogSpec['send']>

/** Opens a dialog for a change by the operator. Without the admin key it shows that the key is missing. */
export function askUser(host: Host, spec: DialogSpec): void {
  if (host.whereabouts()?.admin === false) {
    refuse(host, `There is no admin credential for ${host.link.place.name}: read only.`)
  } else askAnyway(host, spec)
}

export function shellCommand(host: Host, words: readonly string[]): string {
  const { option } = host.link.place
  return ['souk', ...(option === '' ? [] : [option]), ...words.map(shellWord)].join(' ')
}

/** Opens a dialog that needs no admin key. */
export function askAnyway(host: Host, spec: DialogSpec): void {
  host.ui.set({ ...host.ui.get(), dialog: openDialog(openSpec(host, spec)), toast: undefined })
}

/** Adds the marketplace and the acting user to a dialog. On a remote, the user must also type the remote's name. */
function openSpec(host: Host, spec: DialogSpec): OpenSpec {
  const { name, guarded } = host.link.place
  const url = host.whereabouts()?.url ?? name
  const isName = (value: string) => (value === name ? undefined : 'needs the name')
  const confirmed: Field = { name: 'name', label: `To confirm, type the remote name: ${name}`, check: isName }
  return {
    ...spec,
    facts: (values) => [
      ['remote', name === url ? name : `${name}  ${url}${guarded ? '   (not local)' : ''}`],
      ['as', spec.as ?? 'admin'],
      ['', ''],
      ...spec.facts(values),
    ],
    fields: [...(spec.fields ?? []), ...(guarded ? [confirmed] : [])],
  }
}

/** Shows why something cannot be done. The message stays until esc. */
export function refuse(host: Host, why: string): void {
  showToast(host, { text: `✗ ${why}`, tone: 'bad', stays: true })
}

export function showToast(host: Host, told: Toast): void {
  const toast = { ...told, text: told.text.replaceAll(/\s*\n\s*/g, '  ') }
  host.ui.set({ ...host.ui.get(), toast })
  if (toast.stays) return
  host.clock.later(TOAST_MS, () => {
    if (host.ui.get().toast === toast) host.ui.set({ ...host.ui.get(), toast: undefined })
  })
}

/** For this long a message about news is not dismissed by keys, since nobody has read it yet. */
const READ_MS = 1_000

/** Shows what happened while nobody was there. Keys that are typed on at once keep their meaning. */
export function showNews(
  { ui, clock }: Host,
  { text, open }: { readonly text: string; readonly open: () => void },
): void {
  const news = { readAt: clock.now() + READ_MS, open }
  // A problem that waits to be read is not replaced.
  if (ui.get().toast?.stays !== true) ui.set({ ...ui.get(), toast: { text, tone: 'accent', stays: false, news } })
}

const JOB = /job_[0-9a-f]{16}/

/** Id of the first job that texts name. */
export const jobIn = (texts: readonly (string | undefined)[]): string | undefined =>
  texts.flatMap((text) => JOB.exec(text ?? '')?.[0] ?? [])[0]

/** Opens the job of a row. @param texts - texts of the row, one of which may contain the job's id */
export function toItsJob(host: Host, texts: readonly (string | undefined)[]): void {
  const id = jobIn(texts)
  if (id === undefined) refuse(host, 'The selection has no job.')
  else placeOf(host, id)?.go()
}
