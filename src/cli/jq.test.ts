import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runJq } from './jq.ts'

const data = {
  total: 3,
  crons: { b: { stale: true, age: null }, a: { stale: false, age: 3 } },
  tags: ['x', 'y', 'x'],
  services: [
    { id: 's1', price: 2.5, agent: { fixed: '$0.263' }, tags: ['a'], ok: true },
    { id: 's2', price: 1, agent: { fixed: null }, tags: [], ok: false },
    { id: 's3', price: 2.5, agent: { fixed: '$1' }, tags: ['b', 'c'], ok: null },
  ],
  n: -4,
  s: 'a\tb"c',
  deep: [[1, [2]], 3],
  u: 'grün',
}

describe('jq', () => {
  it.each<[string, unknown[]]>([
    ['.crons|keys', [['a', 'b']]],
    ['.services[].id', ['s1', 's2', 's3']],
    ['.services[-1].id', ['s3']],
    ['.services[1:]|map(.id)', [['s2', 's3']]],
    ['.missing.x', [null]],
    ['.services[0]["id"]', ['s1']],
    ['.crons|to_entries|from_entries|keys', [['a', 'b']]],
    ['.crons|with_entries({key:.key,value:.value.stale})', [{ b: true, a: false }]],
    ['[.services[]|select(.price>1)|.id]', [['s1', 's3']]],
    ['.services|map(select(.ok|not).id)', [['s2', 's3']]],
    ['.services|sort_by(.price,.id)|map(.id)', [['s2', 's1', 's3']]],
    ['.services|group_by(.price)|map(length)', [[1, 2]]],
    ['.services|unique_by(.price)|map(.id)', [['s2', 's1']]],
    ['.services|min_by(.price).id,max_by(.price).id', ['s2', 's3']],
    ['.tags|unique,reverse,first,last,add', [['x', 'y'], ['x', 'y', 'x'], 'x', 'x', 'xyx']],
    ['[.services[].price]|add', [6]],
    ['{id:.services[0].id,n}', [{ id: 's1', n: -4 }]],
    [
      '{a:(1,2),b:(3,4)}',
      [
        { a: 1, b: 3 },
        { a: 1, b: 4 },
        { a: 2, b: 3 },
        { a: 2, b: 4 },
      ],
    ],
    ['{(.s):2}', [{ 'a\tb"c': 2 }]],
    ['[.services[]|{id,price}]|last', [{ id: 's3', price: 2.5 }]],
    ['.services[]|[.id,.price,.ok]|@tsv', ['s1\t2.5\ttrue', 's2\t1\tfalse', 's3\t2.5\t']],
    ['[.s,1,null]|@csv', ['"a\tb""c",1,']],
    ['.s|@json', ['"a\\tb\\"c"']],
    [String.raw`"id \(.services[0].id) costs \(.services[0].price+1)"`, ['id s1 costs 3.5']],
    ['.services[].agent.fixed // "none"', ['$0.263', '$1']],
    ['[.services[]|.agent.fixed // empty]', [['$0.263', '$1']]],
    ['if .total>5 then 1 elif .total>2 then 2 else 3 end', [2]],
    ['.total+1,.total-1,.total*2,.total/2,.total%2,-.n', [4, 2, 6, 1.5, 1, 4]],
    ['1-1', [0]],
    ['[1,2,3]-[2]', [[1, 3]]],
    ['"a,b"/","', [['a', 'b']]],
    ['{a:1}+{b:2}', [{ a: 1, b: 2 }]],
    ['null+1', [1]],
    ['.services|any(.ok),all(.ok)', [true, false]],
    [
      '.deep|flatten,flatten(1)',
      [
        [1, 2, 3],
        [1, [2], 3],
      ],
    ],
    [
      '[range(3)],[range(1;3)]',
      [
        [0, 1, 2],
        [1, 2],
      ],
    ],
    ['.u|length,test("^GR";"i"),ltrimstr("gr"),ascii_upcase', [4, true, 'ün', 'GRüN']],
    ['.tags|has(2),has(3),contains(["x"])', [true, false, true]],
    ['"a-b"|split("-")|join("+")', ['a+b']],
    ['["a",1,null]|join("-")', ['a-1-']],
    ['"12"|tonumber', [12]],
    ['[.[]|type]', [['number', 'object', 'array', 'array', 'number', 'string', 'array', 'string']]],
    ['.total[]?', []],
    ['[.services[]?.tags[]]', [['a', 'b', 'c']]],
    ['1==1.0,"a"<"b",[1]<[2],null<false,{}>[]', [true, true, true, true, true]],
    ['(true,false) and true', [true, false]],
    ['[limit(2;.services[].id)],first(.services[].id)', [['s1', 's2'], 's1']],
    ['.crons|map_values(.age)', [{ b: null, a: 3 }]],
    ['[3,"a",null,true,[1],{"a":1},false]|sort', [[null, false, true, 3, 'a', [1], { a: 1 }]]],
    ['[1,2|.+1]', [[2, 3]]],
    ['.services|map({(.id):.price})|add', [{ s1: 2.5, s2: 1, s3: 2.5 }]],
    ['.services|map(select(.tags|length>0).id)', [['s1', 's3']]],
    ['[..|select(type=="number")]', [[3, 3, 2.5, 1, 2.5, -4, 1, 2, 3]]],
    ['.a?.b', [null]],
    [String.raw`"\u00e9\n"`, ['é\n']],
    ['[[1,2],[1]]|sort', [[[1], [1, 2]]]],
    ['.n|tojson,tostring,length', ['-4', '-4', 4]],
    ['.u|.[0:2]', ['gr']],
    ['[] | first,add,min', [null, null, null]],
  ])('%s', async (expression, expected) => {
    expect(await runJq(expression, data)).toEqual(expected)
  })

  it.each([
    ['.services[', 'unexpected end of file, line 1, column 10'],
    ['.a | nope(1)', 'nope/1 is not defined, line 1, column 6'],
    ["'a'", 'column 1'],
    ['.total[0]', 'Cannot index number with number'],
    ['.total.x', 'Cannot index number with string'],
    ['.total[]', 'Cannot iterate over number (3)'],
    ['1, .total[0]', 'Cannot index number'],
    ['1/0', 'cannot be divided'],
    ['.u|test("(")', 'Regex failure'],
    ['"x"|error', /^--jq: x\.$/],
    ['{a: 1}|error', '{"a":1}'],
  ])('%s is refused in the words of jq', async (expression, words) => {
    await expect(runJq(expression, data)).rejects.toThrow(words)
  })

  const step = fc.constantFrom('.a', '.b', '.c_1', '[0]', '[1]', '[]')
  const member = fc.constantFrom('a', 'b', 'c_1')
  const { tree } = fc.letrec((again) => ({
    tree: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom(null, 1, 'x', true),
      fc.array(again('tree'), { maxLength: 3 }),
      fc.dictionary(member, again('tree')),
    ),
  }))
  const outcomeOf = (ran: Promise<unknown>) => ran.catch(({ message }) => message)
  it('a path leads where it leads in jq', async () => {
    await fc.assert(
      fc.asyncProperty(tree, fc.array(step, { maxLength: 4 }), async (value, steps) => {
        const path = steps.join('').replace(/^(?!\.)/, '.')
        expect(await outcomeOf(runJq(path, value))).toEqual(await outcomeOf(runJq(`(${path})`, value)))
      }),
      { numRuns: 200 },
    )
  })

  it('keeps bigint as decimal text and a __proto__ member as a member', async () => {
    expect(await runJq('.a', { a: 10n })).toEqual(['10'])
    const [made] = await runJq('{"__proto__": 1} | keys', null)
    expect(made).toEqual(['__proto__'])
  })
})
