import type { ListingChanges, Outcome } from '../../client/link.ts'
import { said } from '../shell/act-dialogs.ts'
import { askAnyway, refuse, type Sent } from '../shell/ask.ts'
import type { DialogSpec } from '../shell/dialog.ts'
import { shellCommand } from '../shell/pause-dialog.ts'
import { ask } from '../shell/queries.ts'
import type { Host } from '../shell/screen.ts'
import type { ServiceFacts } from './facts.ts'

/** Opens a listing of the user in an editor, and asks before it sends the changes. */
export async function editListing(host: Host, service: ServiceFacts): Promise<void> {
  const { edit } = host
  if (edit === undefined) {
    refuse(host, 'This cockpit cannot open an editor.')
    return
  }
  let edited: Outcome<ListingChanges> | undefined
  await host.lend.current(async () => {
    edited = await edit(service.raw)
  })
  if (edited?.ok) askAnyway(host, said(host, changeDialog(host, service, edited.value)))
  else if (edited !== undefined) refuse(host, [edited.problem.sentence, ...edited.problem.facts].join('  '))
}

export function changeDialog(host: Host, { id, name }: ServiceFacts, changes: ListingChanges): DialogSpec {
  const settings = changes.settings.flatMap((setting) => ['--set', setting])
  return {
    title: 'CHANGE A LISTING',
    as: 'its provider',
    facts: () => [['service', `${id}  ${name}`], ...changes.differences],
    verb: 'Change',
    command: () => shellCommand(host, ['services', 'edit', id, ...settings]),
    send: (): Sent =>
      ask(
        host.link,
        { name: 'updateService', asked: { params: { id }, body: changes.body } },
        () => `${name} is changed.`,
      ),
  }
}
