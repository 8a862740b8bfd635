// A program of its own: opens a page whose script never ends, says which processes show it, and waits to be killed.
import { openSite } from '../web/site.testkit.ts'
import { openBrowsers } from './browser.ts'

const site = await openSite({ '/': { body: '<p>x</p><script>for (;;);</script>' } })
const { port, running } = openBrowsers({ web: site.web() })
const job = { screen: 'desktop', signal: new AbortController().signal } as const
void port.withPage(job, async (page) => {
  const loading = page.load(site.at('/'))
  process.stdout.write(`${running().join(' ')}\n`)
  await loading
})
