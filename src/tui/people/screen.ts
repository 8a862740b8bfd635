import { participantFields } from '../../api/endpoint/list-fields.ts'
import { person } from '../../nouns/people.ts'
import { listScreen } from '../list/nouns.ts'
import { dim } from '../parts/line.ts'
import { askEach, meant } from '../shell/marks.ts'
import type { Host, Screen, View } from '../shell/screen.ts'
import { chosenIndex } from '../shell/ui.ts'
import { openCard, suspendDialog, tierDialog } from './card.ts'

const useList = listScreen({ id: 'people', noun: person, fields: participantFields, title: 'People' })

export const screen: Screen = { title: 'People', use: usePeople }

function usePeople(host: Host, view: View): ReturnType<Screen['use']> {
  return useList(host, view, {
    tabs: [dim('e json')],
    actions: (people, ids) => {
      const onChosen = (specOf: typeof tierDialog) => () =>
        askEach(host, meant(host.ui.get(), people, person.idOf), specOf)
      const open = () => void openCard(host, [ids[chosenIndex(host.ui.get(), ids)]])
      return { edit: onChosen(tierDialog), pauseCron: onChosen(suspendDialog), open }
    },
  })
}
