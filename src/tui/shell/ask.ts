import { type DialogSpec, type Field, type OpenSpec, openDialog } from './dialog.ts'
import { placeOf } from './places.ts'
import type { Host } from './screen.ts'
import type { Toast } from './ui.ts'

const TOAST_MS = 5_000

/** How a change went. */
export type Sent = ReturnType<DialogSpec['send']>

/** Opens a dialog for a change; where no credential for it is at hand, says that at once instead. */
export function askUser(host: Host, spec: DialogSpec): void {
  if (host.whereabouts()?.admin === false) {
    refuse(host, `There is no admin credential for ${host.link.place.name}: it can only be looked at.`)
  } else askAnyway(host, spec)
}

/** Opens a dialog for a change that needs no admin credential. Its command stands where a message would lie. */
export function askAnyway(host: Host, spec: DialogSpec): void {
  host.ui.set({ ...host.ui.get(), dialog: openDialog(openSpec(host, spec)), toast: undefined })
}

/** What every change shows and asks for: where and as whom; on anything but the local daemon its name must be typed. */
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

/** Says why something cannot be done, until esc. */
export function refuse(host: Host, why: string): void {
  showToast(host, { text: `✗ ${why}`, tone: 'bad', stays: true })
}

export function showToast(host: Host, toast: Toast): void {
  host.ui.set({ ...host.ui.get(), toast })
  if (toast.stays) return
  host.clock.later(TOAST_MS, () => {
    if (host.ui.get().toast === toast) host.ui.set({ ...host.ui.get(), toast: undefined })
  })
}

const JOB = /job_[0-9a-f]{16}/

/** Goes to the job that a row is about. @param texts - what is known of the row, one of them naming its job */
export function toItsJob(host: Host, texts: readonly (string | undefined)[]): void {
  const [id] = texts.flatMap((text) => JOB.exec(text ?? '')?.[0] ?? [])
  if (id === undefined) {
    refuse(host, 'No job belongs to what is chosen.')
    return
  }
  placeOf(host, id)?.go()
}
