import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32, deflateRawSync } from 'node:zlib';
import { writeXlsx } from 'hucre/xlsx';
import { isSlice } from '#test/cases.ts';
import { readWorkbook } from './read-workbook.ts';

/*
 * Workbooks written by spreadsheets are read; hostile ones are rejected with a reason, using little memory.
 */

type Part = {
  name: string;
  content: string | Buffer;
  /** A false value for the directory and the header. */
  size?: number;
  method?: number;
  flags?: number;
  crc?: number;
  nameInHeader?: string;
  /** The position of the header. */
  at?: number;
};

/** Writes a zip file whose fields can be falsified. */
function zip(parts: readonly Part[], options: { count?: number } = {}): Buffer {
  const bodies: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const { name, content, size, method = 8, flags = 0, crc, nameInHeader = name, ...part } of parts) {
    const plain = Buffer.from(content);
    const packed = method === 0 ? plain : deflateRawSync(plain, { level: 1 });
    const fields = Buffer.alloc(22);
    fields.writeUInt16LE(flags, 2);
    fields.writeUInt16LE(method, 4);
    fields.writeUInt32LE(crc ?? crc32(plain), 10);
    fields.writeUInt32LE(packed.length, 14);
    fields.writeUInt32LE(size ?? plain.length, 18);
    const lengths = Buffer.alloc(4);
    lengths.writeUInt16LE(Buffer.byteLength(nameInHeader));
    const header = Buffer.concat([
      Buffer.from('PK\u0003\u0004'),
      fields,
      lengths,
      Buffer.from(nameInHeader),
      packed,
    ]);
    const tail = Buffer.alloc(18);
    tail.writeUInt16LE(Buffer.byteLength(name));
    tail.writeUInt32LE(part.at ?? at, 14);
    directory.push(
      Buffer.concat([Buffer.from('PK\u0001\u0002\u0014\u0000'), fields, tail, Buffer.from(name)]),
    );
    bodies.push(header);
    at += header.length;
  }
  const end = Buffer.alloc(18);
  end.writeUInt16LE(options.count ?? parts.length, 4);
  end.writeUInt16LE(options.count ?? parts.length, 6);
  end.writeUInt32LE(Buffer.concat(directory).length, 8);
  end.writeUInt32LE(at, 12);
  return Buffer.concat([...bodies, ...directory, Buffer.from('PK\u0005\u0006'), end]);
}

const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const relations = (...list: [id: string, type: string, target: string][]): string =>
  `<Relationships>${list.map(([id, type, target]) => `<Relationship Id="${id}" Type="${office}/${type}" Target="${target}"/>`).join('')}</Relationships>`;

type Texts = { sheet?: string; strings?: string; styles?: string; workbook?: string };

const sheetOf = (rows: string): string =>
  `<worksheet xmlns="${main}"><sheetData>${rows}</sheetData></worksheet>`;
const inlineRow = (text: string): string =>
  `<row r="1"><c r="A1" t="inlineStr"><is><t>${text}</t></is></c></row>`;

const partsOf = ({ sheet, strings, styles, workbook }: Texts): Part[] => [
  { name: '[Content_Types].xml', content: '<Types/>' },
  { name: '_rels/.rels', content: relations(['rId1', 'officeDocument', 'xl/workbook.xml']) },
  {
    name: 'xl/workbook.xml',
    content:
      workbook ??
      `<workbook xmlns="${main}" xmlns:r="${office}"><sheets><sheet name="One" sheetId="1" r:id="rId7"/><sheet name="Two" sheetId="2" r:id="rId8"/></sheets></workbook>`,
  },
  {
    name: 'xl/_rels/workbook.xml.rels',
    content: relations(
      ['rId7', 'worksheet', '/xl/worksheets/first.xml'],
      ['rId8', 'worksheet', 'worksheets/second.xml'],
      ['rId9', 'sharedStrings', 'sharedStrings.xml'],
      ['rId10', 'styles', 'styles.xml'],
    ),
  },
  { name: 'xl/worksheets/first.xml', content: sheet ?? sheetOf(inlineRow('Name')) },
  { name: 'xl/sharedStrings.xml', content: strings ?? `<sst xmlns="${main}"/>` },
  { name: 'xl/styles.xml', content: styles ?? `<styleSheet xmlns="${main}"/>` },
];
const workbook = (texts: Texts): Buffer => zip(partsOf(texts));

const linesOf = async (bytes: Uint8Array): Promise<unknown> => {
  const table = await readWorkbook(bytes);
  assert.ok(typeof table !== 'string', JSON.stringify(table));
  return table.lines;
};

test('texts, numbers, dates, times, booleans and errors are read at their line and column', async () => {
  const strings = `<sst xmlns="${main}"><si><t>Ada</t></si><si><r><t>Rich </t></r><r><t xml:space="preserve">text &amp; more</t></r><rPh sb="0" eb="1"><t>said</t></rPh></si><si><t>two_x000A_lines _x005F_x0041_</t></si></sst>`;
  const styles = `<styleSheet xmlns="${main}"><numFmts><numFmt numFmtId="170" formatCode="[Red]dd.mm.yyyy&quot; h&quot;"/><numFmt numFmtId="171" formatCode="0.00&quot; days&quot;"/><numFmt numFmtId="172" formatCode="[h]:mm"/></numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="22"/><xf numFmtId="170"/><xf numFmtId="171"/><xf numFmtId="172"/></cellXfs></styleSheet>`;
  const sheet = sheetOf(
    '<row r="2"><c r="A2" t="s"><v>0</v></c><c r="C2" t="s"><v>1</v></c><c t="s"><v>2</v></c></row>' +
      '<row/><row><c><v>1.5</v></c><c s="1"><v>46053</v></c><c s="2"><v>46053.58402777778</v></c><c s="3"><v>1</v></c><c s="4"><v>3</v></c><c s="5"><v>0.5</v></c></row>' +
      '<row r="9"><c t="b"><v>1</v></c><c t="e"><v>#N/A</v></c><c t="str"><f>A1</f><v>made</v></c><c t="d"><v>2026-01-31</v></c><c s="1"/><c><v>x</v></c><c t="s"><v>99</v></c></row>',
  );
  assert.deepEqual(await linesOf(workbook({ sheet, strings, styles })), [
    { line: 2, cells: ['Ada', '', 'Rich text & more', 'two\nlines _x0041_'] },
    { line: 4, cells: [1.5, '2026-01-31', '2026-01-31T14:01:00', '1900-01-01', 3, '1899-12-31T12:00:00'] },
    { line: 9, cells: [true, '#N/A', 'made', '2026-01-31', '', 'x'] },
  ]);
});

test('dates of a workbook with the 1904 date system are read', async () => {
  const bytes = workbook({
    workbook: `<x:workbook xmlns:x="${main}" xmlns:q="${office}"><x:workbookPr date1904="1"/><x:sheets><x:sheet name="One" q:id="rId7"/></x:sheets></x:workbook>`,
    styles: `<styleSheet><cellXfs><xf numFmtId="14"/></cellXfs></styleSheet>`,
    sheet: sheetOf('<row><c s="0"><v>0</v></c><c s="0"><v>44591</v></c></row>'),
  });
  assert.deepEqual(await linesOf(bytes), [{ line: 1, cells: ['1904-01-01', '2026-01-31'] }]);
});

test('a workbook written by another program is read', async () => {
  const rows = [
    ['Name', 'Age', 'Born'],
    ['Zoë & <co>', 36.5, new Date('1815-12-10T00:00:00Z')],
    ['', true, new Date('2026-01-31T14:05:06Z')],
  ];
  const bytes = await writeXlsx({ sheets: [{ name: 'One', rows }] });
  assert.deepEqual(await linesOf(bytes), [
    { line: 1, cells: ['Name', 'Age', 'Born'] },
    { line: 2, cells: ['Zoë & <co>', 36.5, '1815-12-10'] },
    { line: 3, cells: ['', true, '2026-01-31T14:05:06'] },
  ]);
});

test('a dimension far larger than the sheet costs nothing', async () => {
  const sheet = `<worksheet><dimension ref="A1:XFD1048576"/><sheetData><row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="A1048576"><v>2</v></c></row></sheetData></worksheet>`;
  assert.deepEqual(await linesOf(workbook({ sheet })), [
    { line: 1, cells: [1] },
    { line: 1_048_576, cells: [2] },
  ]);
});

const good = partsOf({});
const withPart = (name: string, change: Partial<Part>): Buffer =>
  zip(good.map((part) => (part.name === name ? { ...part, ...change } : part)));
const first = 'xl/worksheets/first.xml';
const many = (unit: string, count: number): string => unit.repeat(count);
const entities = ['b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']
  .map((name, index) => `<!ENTITY ${name} "${many(`&${'abcdefgh'[index]};`, 10)}">`)
  .join('');
const mega = 1_000_000;

const refused: readonly [what: string, bytes: () => Buffer, why: RegExp][] = [
  [
    'shared strings of 70 MB',
    () => workbook({ strings: `<sst><si><t>${many('a', 70 * mega)}</t></si></sst>` }),
    /larger than 64 MB/,
  ],
  [
    'a cell of 70 MB',
    () => workbook({ sheet: sheetOf(inlineRow(many('a', 70 * mega))) }),
    /larger than 64 MB/,
  ],
  [
    'parts that are too large together',
    () => zip([...good, ...['a', 'b'].map((name) => ({ name, content: Buffer.alloc(35 * mega) }))]),
    /larger than 64 MB/,
  ],
  [
    'a part that is larger than its directory says',
    () => withPart(first, { content: sheetOf(inlineRow(many('a', 100 * mega))), size: 2_000 }),
    /cannot be read/,
  ],
  [
    'a part that is smaller than its directory says',
    () => withPart(first, { size: 20_000 }),
    /cannot be read/,
  ],
  [
    'a cell of 50 MB',
    () => workbook({ sheet: sheetOf(inlineRow(many('a', 50 * mega))) }),
    /more than 5,000,000 characters/,
  ],
  [
    'a number of 50 MB',
    () => workbook({ sheet: sheetOf(`<row><c><v>${many('1', 50 * mega)}</v></c></row>`) }),
    /more than 5,000,000 characters/,
  ],
  [
    'a shared string of 50 MB',
    () => workbook({ strings: `<sst><si><t>${many('a', 50 * mega)}</t></si></sst>` }),
    /more than 5,000,000 characters/,
  ],
  [
    'a shared string that is used often',
    () =>
      workbook({
        strings: `<sst><si><t>${many('a', 100_000)}</t></si></sst>`,
        sheet: sheetOf(many('<row><c t="s"><v>0</v></c></row>', 100)),
      }),
    /more than 5,000,000 characters/,
  ],
  [
    'many shared strings',
    () => workbook({ strings: `<sst>${many('<si/>', 1_100_000)}</sst>` }),
    /too many shared strings/,
  ],
  [
    'many cell formats',
    () => workbook({ styles: `<styleSheet><cellXfs>${many('<xf/>', 100_000)}</cellXfs></styleSheet>` }),
    /too many cell formats/,
  ],
  ['many rows', () => workbook({ sheet: sheetOf(many('<row/>', 1_100_000)) }), /too many rows/],
  ['a row beyond the last', () => workbook({ sheet: sheetOf('<row r="99999999999"/>') }), /too many rows/],
  [
    'many cells in a row',
    () => workbook({ sheet: sheetOf(`<row>${many('<c/>', 20_000)}</row>`) }),
    /too many columns/,
  ],
  [
    'a column beyond the last',
    () => workbook({ sheet: sheetOf('<row><c r="ZZZZZZZ1"><v>1</v></c></row>') }),
    /too many columns/,
  ],
  [
    'many cells at one place',
    () => workbook({ sheet: sheetOf(`<row>${many('<c r="A1"/>', 1_600_000)}</row>`) }),
    /too many cells/,
  ],
  ['deep XML', () => workbook({ sheet: many('<a>', mega) }), /nested too deeply/],
  [
    'entities in entities',
    () =>
      workbook({
        strings: `<!DOCTYPE s [<!ENTITY a "aaaaaaaaaa">${entities}]><sst><si><t>&i;</t></si></sst>`,
      }),
    /DOCTYPE/,
  ],
  [
    'an entity from outside',
    () => workbook({ strings: `<!DOCTYPE s SYSTEM "file:///etc/passwd"><sst/>` }),
    /DOCTYPE/,
  ],
  ['an entity that is not declared', () => workbook({ sheet: sheetOf(inlineRow('&a;')) }), /cannot be read/],
  [
    'many attributes',
    () =>
      workbook({
        sheet: sheetOf(`<row ${Array.from({ length: 300 }, (_, index) => `a${index}=""`).join(' ')}/>`),
      }),
    /too many attributes/,
  ],
  [
    'an attribute of 10 MB',
    () => workbook({ sheet: sheetOf(`<row r="${many('1', 10 * mega)}"/>`) }),
    /cannot be read/,
  ],
  [
    'a comment of 10 MB',
    () => workbook({ sheet: `<!--${many('a', 10 * mega)}-->${sheetOf('')}` }),
    /cannot be read/,
  ],
  ['XML that ends early', () => workbook({ sheet: '<worksheet><sheetData>' }), /cannot be read/],
  [
    'bytes that are not UTF-8',
    () => withPart(first, { content: Buffer.from([0x3c, 0x61, 0xff, 0x3e]) }),
    /cannot be read/,
  ],
  [
    'many parts',
    () =>
      zip([...good, ...Array.from({ length: 2_000 }, (_, index) => ({ name: `a${index}`, content: '' }))]),
    /more than 2000 parts/,
  ],
  ['more parts in the directory than there are', () => zip(good, { count: 1_999 }), /cannot be read/],
  [
    'parts that overlap',
    () => zip([...good, { ...good[4]!, name: 'a', nameInHeader: first, at: positionOf(first) }]),
    /overlap/,
  ],
  [
    'one part under two names',
    () => zip([...good, { ...good[4]!, name: 'XL/Worksheets/FIRST.xml' }]),
    /twice/,
  ],
  [
    'another name in the header',
    () => withPart(first, { nameInHeader: 'xl/worksheets/other.xml' }),
    /does not match/,
  ],
  ['a wrong checksum', () => withPart(first, { crc: 7 }), /is damaged/],
  ['an encrypted part', () => withPart(first, { flags: 1 }), /encrypted/],
  ['a method that is not supported', () => withPart(first, { method: 12 }), /not supported/],
  ['a name that leads out', () => zip([...good, { name: '../a', content: '' }]), /cannot be read/],
  [
    'no sheet',
    () => zip(good.filter(({ name }) => name !== first)),
    /It does not contain xl\/worksheets\/first\.xml/,
  ],
  ['no end', () => workbook({}).subarray(0, -30), /cannot be read/],
  ['zip64 fields that lead nowhere', () => zip64(workbook({})), /cannot be read/],
  ['another format', () => Buffer.from('no workbook'), /cannot be read/],
];

const positionOf = (name: string): number => workbook({}).indexOf(name) - 30;

/** Inserts a zip64 locator that points beyond the file, before the end of the directory. */
function zip64(bytes: Buffer): Buffer {
  const locator = Buffer.alloc(20, 0xff);
  locator.write('PK\u0006\u0007', 'latin1');
  return Buffer.concat([bytes.subarray(0, -22), locator, bytes.subarray(-22)]);
}

/** Of each limit npm test checks one file. These take half a second of CPU each. */
const slow = new Set([
  'shared strings of 70 MB',
  'parts that are too large together',
  'a part that is larger than its directory says',
  'a number of 50 MB',
  'a shared string of 50 MB',
  'many shared strings',
  'many rows',
  'many cells at one place',
]);

for (const [what, bytes, why] of refused)
  test(`a workbook with ${what} is rejected`, { skip: isSlice && slow.has(what) }, async () => {
    const problem = await readWorkbook(bytes());
    assert.ok(typeof problem === 'string', 'it was read');
    assert.match(problem, why);
    assert.ok(problem.length < 200, 'one sentence or two');
  });

test('a zip bomb of 60 MB is read with less than 50 MB of extra memory', async () => {
  const bytes = workbook({
    sheet: sheetOf(`<row><c r="A1"><f>${many('a', 60 * mega)}</f><v>1</v></c></row>`),
  });
  const before = process.memoryUsage.rss();
  let most = before;
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss());
  }, 5);
  assert.deepEqual(await linesOf(bytes), [{ line: 1, cells: [1] }]);
  clearInterval(watch);
  assert.ok(most - before < 50 * mega, `${most - before} bytes more`);
});
