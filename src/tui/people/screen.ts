import { participantFields } from '../../api/endpoint/list-fields.ts'
import { person, type SeenParticipant } from '../../nouns/people.ts'
import { listScreen } from '../list/nouns.ts'
import { dim } from '../parts/line.ts'
import type { DialogSpec } from '../shell/dialog.ts'
import { askAll, meant } from '../shell/marks.ts'
import type { Host, Screen, View } from '../shell/screen.ts'
import { chosenIndex } from '../shell/ui.ts'
import { openCard, suspendDialog, tierDialog } from './card.ts'

const useList = listScreen({ id: 'people', noun: person, fields: participantFields, title: 'People' })

export function usePeople(host: Host, view: View): ReturnType<Screen['use']> {
  return useList(host, view, {
    tabs: [dim('e json')],
    actions: (people, ids) => {
      const onChosen = (specOf: (host: Host, one: SeenParticipant) => DialogSpec) => () => {
        const rows = meant(host.ui.get(), people, person.idOf)
        askAll(
          host,
          rows.map((one) => specOf(host, one)),
        )
      }
      const open = () => void openCard(host, [ids[chosenIndex(host.ui.get(), ids)]])
      return { edit: onChosen(tierDialog), pauseCron: onChosen(suspendDialog), open }
    },
  })
}
