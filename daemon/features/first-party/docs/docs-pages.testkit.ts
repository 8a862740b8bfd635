/* Documentation of one small interface, as different tools and people write it. */

export const html = `<h1>Pond API</h1><p>Base URL: https://api.pond.test/v1. Send Authorization: Bearer TOKEN. Rate limit: 100 requests per minute. Errors: 404 not found.</p>
<p>You could think of GET /nothing as an example of what is not here, of course, in a long sentence.</p>
<h2>List ducks</h2><pre>GET /v1/ducks?page=2</pre><p>Response</p><pre>{"ducks": [{"id": 1, "name": "Ada"}], "next_cursor": "x"}</pre>
<h2>Create a duck</h2><pre>curl -X POST https://api.pond.test/v1/ducks -H "Content-Type: application/json" -d '{"name": "Ada"}'</pre>
<table><tr><th>Name</th><th>Type</th><th>Required</th><th>Description</th></tr><tr><td>name</td><td>string</td><td>yes</td><td>Its name</td></tr></table>
<h2>Read a duck</h2><p>GET /v1/ducks/:id</p><table><tr><td>200</td><td>the duck</td></tr><tr><td>404</td><td>no duck</td></tr></table>
<h2>Remove a duck</h2><pre>requests.delete("https://api.pond.test/v1/ducks/42")</pre>`
export const markdown = `# Pond API\n\nBase URL: https://api.pond.test/v1\n\n## Endpoints\n\n| Method | Path | What |\n|---|---|---|\n| GET | /v1/ducks | list |\n| POST | /v1/ducks | create |\n| GET | /v1/ducks/{id} | read |\n\n### DELETE /v1/ducks/{id}\n\nRemoves it.\n`
const four = [
  ['GET', '/v1/ducks', 'List ducks'],
  ['POST', '/v1/ducks', 'Create a duck'],
  ['GET', '/v1/ducks/{id}', 'Read a duck'],
  ['DELETE', '/v1/ducks/{id}', 'Remove a duck'],
] as const
const prose = 'You may GET/POST as you like, and PUT/PATCH too, with a GET request to your own /webhook or the like.'
/** As generators of reference pages write it: a badge and a path, and nothing between them but markup. */
export const badges = `<h1>Pond API</h1><p>${prose}</p>${four
  .map(
    ([method, path, title]) =>
      `<section><h3>${title}</h3><div class="op"><span class="m">${method}</span><code>${path}</code></div></section>`,
  )
  .join('')}`
/** One listing with a whole session in it, and addresses with real numbers. */
export const commands = `<h1>Quick start</h1><p>${prose}</p><pre># list
curl https://api.pond.test/v1/ducks -H "Authorization: Bearer $T"
# create
curl --request POST 'https://api.pond.test/v1/ducks' \\
  --header 'Content-Type: application/json' --data '{"name": "Ada"}'

curl -s "https://api.pond.test/v1/ducks/42"
curl -XDELETE https://api.pond.test/v1/ducks/42</pre>`
/** In two languages, by a base address of its own. */
export const snippets = `# Guide\n\n${prose}\n\n\`\`\`python
BASE = "https://api.pond.test"
ducks = requests.get(f"{BASE}/v1/ducks", timeout=5).json()
requests.post(BASE + "/v1/ducks", json={"name": "Ada"})
\`\`\`\n\n\`\`\`js
const { data } = await axios.get(\`/v1/ducks/\${id}\`)
await fetch(\`\${base}/v1/ducks/\${data.id}\`, { method: 'DELETE' })
\`\`\`\n`
export const blueprint = `# Pond API\n\n${prose}\n\n${four.map(([method, path, title]) => `## ${title} [${method} ${path}]\n\nText.\n`).join('\n')}`
export const bold = `# Pond API\n\n${prose}\n\n${four.map(([method, path, title]) => `## ${title}\n\n**${method}** \`${path}\`\n`).join('\n')}`
export const definitions = `<h1>Pond API</h1><p>${prose}</p><dl>${four.map(([method, path, title]) => `<dt><code>${method} ${path}</code></dt><dd>${title}</dd>`).join('')}</dl>`
