import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testDatabase } from '#test/database.ts';
import { openSearchScene } from '#test/submissions/search-scene.ts';

const { database } = await testDatabase();

/** A text, the queries that find it, and the queries that do not. */
type Case = { text: string; finds: string[]; misses?: string[]; language?: string };

const classes: Record<string, Case[]> = {
  accents: [
    {
      text: 'Café Zürich',
      finds: ['cafe', 'Café', 'CAFE', 'zurich', 'Zuerich', 'cafè'],
      misses: ['caf', 'cab'],
    },
    { text: 'Herr Müller', finds: ['muller', 'mueller', 'Müller', 'MÜLLER'] },
    { text: 'Frau Mueller', finds: ['Müller', 'mueller'] },
    { text: 'Łódź and Kraków', finds: ['lodz', 'krakow', 'Łódź'] },
    { text: 'Ærøskøbing', finds: ['aeroskobing', 'ærøskøbing'] },
    { text: 'Straße 12', finds: ['strasse', 'straße', 'STRASSE'] },
    { text: 'İstanbul Şişli', finds: ['istanbul', 'sisli'] },
    { text: 'Việt Nam Phở', finds: ['viet', 'pho', 'phở'] },
    { text: 'ελληνικά Αθήνα', finds: ['αθηνα', 'ΑΘΗΝΑ'] },
    { text: 'ёлка и йод', finds: ['елка', 'ёлка'] },
    { text: 'Ｆｕｌｌｗｉｄｔｈ ﬁne ①', finds: ['fullwidth', 'fine', '1'] },
    { text: 'fullwidth', finds: ['Ｆｕｌｌｗｉｄｔｈ'] },
    { text: 'Zoe\u0308 and Zoë', finds: ['zoe', 'zoë', 'zoe\u0308'] },
    { text: 'naïve façade', finds: ['naive', 'facade', 'naiv*', 'faça*', 'faca*'] },
    { text: 'شُكْرًا جزيلا', finds: ['شكرا'] },
    { text: 'رقم ١٢٣٤', finds: ['1234', '١٢٣٤'] },
    { text: 'des élèves aimées', language: 'french', finds: ['eleve', 'élève', 'aimer', 'ELEVES'] },
    { text: 'los teléfonos móviles', language: 'spanish', finds: ['telefono', 'movil', 'móvil'] },
    { text: 'soft\u00adhyphen', finds: ['softhyphen'] },
  ],
  'joined words': [
    {
      text: 'invoice_2024_final.pdf',
      finds: [
        'invoice',
        '2024',
        'final',
        'pdf',
        'invoice_2024',
        'invoice_2024_final.pdf',
        'final.pdf',
        'INVOICE-2024',
        '"invoice_2024"',
      ],
      misses: ['invoice.final', '2023'],
    },
    {
      text: 'see https://shop.example.com/orders/77?ref=mail#top',
      finds: [
        'example.com',
        'shop.example.com',
        'orders',
        'orders/77',
        'https://shop.example.com/orders/77',
        'example',
        '"example.com"',
      ],
      misses: ['example.org', 'com.example'],
    },
    {
      text: 'ada.lovelace@mail.acme.com',
      finds: [
        'acme',
        'acme.com',
        'ada',
        'lovelace',
        'ada.lovelace@mail.acme.com',
        'mail.acme.com',
        'email:acme.com',
        'email:ada.lovelace',
        'email:ada.lovelace@mail.acme.com',
        '@acme.com',
      ],
      misses: ['acme.mail', 'email:lovelace@acme.com'],
    },
    {
      text: 'A-1029/77',
      finds: ['1029', '77', 'A-1029', 'a-1029/77', '1029/77', 'A1029'],
      misses: ['1029/78', '102'],
    },
    {
      text: 'getUserName and order_item_id',
      finds: ['user', 'username', 'getUserName', 'item', 'order_item', 'item_id'],
    },
    { text: 'the iPhone15 covid19', finds: ['iphone', 'iphone15', 'covid', '19', 'covid-19'] },
    { text: 'iPhone 15', finds: ['iphone15', 'iPhone 15'] },
    {
      text: 'rock-climbing',
      finds: ['climbing', 'rock climb', 'rock-climbing', 'rockclimbing', 'rock-climb'],
    },
    { text: 'rock climbing', finds: ['rock-climbing', 'climb rock'] },
    { text: 'e-mail and Wi-Fi', finds: ['email', 'e-mail', 'wifi', 'WiFi', 'wi-fi', 'mail'] },
    { text: 'email and wifi', finds: ['e-mail', 'wi-fi'] },
    { text: 'apples,pears;plums', finds: ['apples', 'pears', 'plum', 'apples,pears'] },
    { text: 'and/or either/other', finds: ['either', 'either/other'] },
    { text: 'end.Start of it', finds: ['start', 'end'] },
    { text: 'U.S.A. and N.A.T.O', finds: ['usa', 'U.S.A.', 'u.s.a', 'nato'] },
    { text: 'C:\\Users\\ada\\report.docx', finds: ['report', 'report.docx', 'users', 'docx'] },
    {
      text: '#hashtag @handle $100 50% (sic) [note]',
      finds: ['hashtag', '#hashtag', 'handle', '@handle', '100', '$100', '50', '50%', 'sic', 'note'],
    },
    { text: 'v2.10.3-beta.1', finds: ['2.10.3', 'v2.10', 'beta', 'v2.10.3-beta.1'] },
    { text: '192.168.10.7', finds: ['192.168.10.7', '192.168'] },
    { text: 'IBAN DE89 3704 0044 0532 0130 00', finds: ['DE89', '3704', '0532 0130'] },
    { text: 'Order#12345,paid', finds: ['12345', 'order', 'paid', '#12345'] },
    { text: 'total:1,234.56€', finds: ['1,234.56', '1,234', 'total', '1234'] },
    { text: '2026-05-17T10:30', finds: ['2026-05-17', '2026', '10:30'] },
    { text: 'room:4b', finds: ['4b', 'room'] },
  ],
  phones: [
    {
      text: '+49 170 1234567',
      finds: [
        '+491701234567',
        '01701234567',
        '0170 1234567',
        '0170/1234567',
        '+49 170 1234567',
        '00491701234567',
        '491701234567',
        '1701234567',
        '(0170) 123-4567',
        '1234567',
        '"+49 170 1234567"',
      ],
      misses: ['+491701234568', '01711234567'],
    },
    { text: '0170/123 45 67', finds: ['+49 170 1234567', '01701234567', '0170 1234567'] },
    { text: '01701234567', finds: ['+49 170 1234567', '0170 1234567', '+49 (0)170 1234567'] },
    { text: '+49 (0)30 901820', finds: ['030 901820', '+4930901820', '030901820'] },
    {
      text: '(555) 123-4567',
      finds: ['+1 555 123 4567', '5551234567', '555-123-4567', '555.123.4567', '1-555-123-4567'],
    },
    { text: '+1-555-987-6543', finds: ['(555) 987-6543', '5559876543', '15559876543'] },
    {
      text: 'call +44 20 7946 0958 today',
      finds: ['02079460958', '020 7946 0958', '+442079460958', 'call 02079460958'],
    },
    { text: '8 (912) 345-67-89', finds: ['+7 912 345-67-89', '79123456789'] },
    { text: '+33 6 12 34 56 78', finds: ['06 12 34 56 78', '0612345678', '+33612345678'] },
    { text: '+81-3-1234-5678', finds: ['03-1234-5678', '0312345678'] },
    { text: '+390612345678', finds: ['06 12345678', '+39 06 1234 5678'] },
    { text: '+971 50 123 4567', finds: ['0501234567', '971501234567'] },
  ],
  'common words only': [
    { text: 'Tickets for The Who', finds: ['The Who', 'the who', '"The Who"', 'who', 'tickets the who'] },
    {
      text: 'To be, or not to be: that is',
      finds: ['"to be or not to be"', 'to be or not to be', 'to be', 'that is'],
    },
    { text: 'IT support', finds: ['it'] },
    { text: 'I will', finds: ['will', 'i will'] },
    { text: "don't", finds: ["don't", 'don’t', 'dont'] },
    { text: 'wir sind da', language: 'german', finds: ['wir sind', '"wir sind"', 'sind'] },
    { text: 'être ou ne pas être', language: 'french', finds: ['ne pas', 'ou', '"ne pas"'] },
    { text: 'pancakes', finds: [], misses: ['the', 'to be', '"to be"', 'and', 'it is'] },
  ],
  'scripts without spaces': [
    {
      text: '今月の売上',
      finds: ['売上', '今月', '今月の売上', '月', '売', '上', '"売上"'],
      misses: ['売買', '上売'],
    },
    { text: '日本語テキスト', finds: ['日本語', 'テキスト', '語テ', 'ﾃｷｽﾄ', '日本'], misses: ['日英'] },
    { text: 'ガイドブック', finds: ['ガイド', 'ブック', 'ｶﾞｲﾄﾞ'], misses: ['カイト'] },
    { text: '請問發票號碼是多少', finds: ['發票', '發票號碼', '號碼'], misses: ['票發'] },
    { text: '我的订单12345还没有到', finds: ['订单', '12345', '订单12345', '没有'] },
    { text: 'iPhoneを購入しました。', finds: ['iphone', '購入', '購入しました'] },
    { text: '東京、大阪', finds: ['東京', '大阪', '東京 大阪'] },
    { text: 'ฉันต้องการคืนสินค้า', finds: ['คืนสินค้า', 'สินค้า', 'ต้องการ'], misses: ['สินเชื่อ'] },
    { text: 'ຂ້ອຍຕ້ອງການຄວາມຊ່ວຍເຫຼືອ', finds: ['ຊ່ວຍເຫຼືອ', 'ຕ້ອງການ'] },
    { text: 'ខ្ញុំត្រូវការជំនួយ', finds: ['ជំនួយ', 'ត្រូវការ'] },
    { text: 'ကျွန်တော်အကူအညီလိုပါတယ်', finds: ['အကူအညီ'] },
    { text: '서울에서 배송이 늦어요', finds: ['서울', '배송', '서울에서', '배송 서울'] },
    { text: '환불을 요청합니다', finds: ['환불', '요청'] },
    { text: '猫', finds: ['猫'] },
  ],
  apostrophes: [
    { text: "O'Brien", finds: ["O'Brien", 'O’Brien', 'O`Brien', 'obrien', 'brien', 'OʼBrien', '"O’Brien"'] },
    { text: 'O’Connor', finds: ["o'connor", 'oconnor', 'connor'] },
    { text: "Müller's shop", finds: ['Müller', "muller's", 'mullers', 'Muller’s'] },
    {
      text: "l'école d’été",
      language: 'french',
      finds: ['école', 'ecole', "l'ecole", 'l’école', 'été', 'ete'],
    },
    { text: "dell'acqua", language: 'italian', finds: ['acqua', 'dell’acqua', "dell'acqua"] },
    {
      text: "it's the customers' turn",
      finds: ['customer', "customers'", 'customers’', 'its turn', 'it’s turn'],
    },
    { text: 'rock ’n’ roll', finds: ["rock 'n' roll", 'rock n roll'] },
    { text: "Hawai'i and Qur'an", finds: ['hawaii', 'Hawaiʻi', 'quran', 'Qur’an'] },
    { text: '“quoted” words', finds: ['quoted', '"quoted words"'] },
  ],
  'German compounds': [
    {
      text: 'Krankenversicherung',
      language: 'german',
      finds: ['versicherung', 'kranken', 'Versicherungen'],
      misses: ['sicher'],
    },
    {
      text: 'die Stromrechnungen',
      language: 'german',
      finds: ['rechnung', 'Rechnungen', 'strom rechnung'.split(' ')[1]!],
    },
    { text: 'Rechnungsnummer fehlt', language: 'german', finds: ['rechnung', 'nummer', 'Nummern'] },
    {
      text: 'Krankenversicherungsbeitrag',
      language: 'german',
      finds: ['beitrag', 'versicherung', 'krankenversicherung'],
    },
    { text: 'Krankenhäuser', language: 'german', finds: ['krankenhaus', 'Häuser'] },
    { text: 'Lieferadresse', language: 'german', finds: ['adresse', 'liefer*'] },
    {
      text: 'Überweisungsträger',
      language: 'german',
      finds: ['überweisung', 'ueberweisung', 'uberweisung', 'Träger'],
    },
    { text: 'strawberries', finds: [], misses: ['berries'] },
  ],
};

for (const [name, cases] of Object.entries(classes))
  test(`${name}: every spelling finds the text`, async () => {
    const failures: string[] = [];
    await Promise.all(
      cases.map(async ({ text, finds, misses = [], language }) => {
        const scene = await openSearchScene(database, language);
        const id = await scene.submit({ text });
        await scene.submit({ text: 'unrelated filler' });
        for (const q of finds) {
          const found = await scene.find(q);
          if (found.join() !== id) failures.push(`${q} → ${text}: ${found.length} found`);
        }
        for (const q of misses) if ((await scene.find(q)).length > 0) failures.push(`${q} finds ${text}`);
      }),
    );
    assert.deepEqual(failures, []);
  });

test('of equal matches, the spelling as typed comes first, and the subject before it', async () => {
  const scene = await openSearchScene(database);
  const ids: Record<string, string> = {};
  for (const [name, answers] of Object.entries({
    exact: { text: 'Café' },
    subject: { subject: 'cafe', text: 'x' },
    plain: { text: 'cafe' },
    joined: { text: 'rock-climbing' },
    apart: { text: 'climbing a rock' },
    who: { text: 'tickets for The Who' },
    sentence: { text: 'who ate the cake' },
  }))
    ids[name] = await scene.submit(answers);
  const names = async (q: string): Promise<string[]> =>
    (await scene.find(q)).map((id) => Object.keys(ids).find((name) => ids[name] === id)!);
  assert.deepEqual(await names('café'), ['subject', 'exact', 'plain']);
  assert.deepEqual(await names('cafe'), ['subject', 'plain', 'exact']);
  assert.deepEqual(await names('rock-climbing'), ['joined', 'apart']);
  assert.deepEqual(await names('the who'), ['who', 'sentence']);
});

test('operators compare words in the same way', async () => {
  const scene = await openSearchScene(database, 'german');
  const id = await scene.submit({
    subject: 'Café Zürich',
    text: 'Die Stromrechnung für 今月の売上 liegt in invoice_2024.pdf, siehe rock-climbing gear',
    phone: '+49 170 1234567',
  });
  for (const q of [
    'subject:cafe',
    'subject:"cafe zurich"',
    '"cafe zurich"',
    'text:rechnung',
    'text:売上',
    'text:2024',
    'text:invoice_2024.pdf',
    '"rock climbing gear"',
    '"rock-climbing gear"',
    'phone:01701234567',
    'phone:"+49 170 1234567"',
    'zuri*',
    'cafe -subject:bern',
    'zurich -bern',
    '-tag:x cafe',
  ])
    assert.deepEqual(await scene.find(q), [id], q);
  for (const q of [
    'subject:rechnung',
    '"zurich cafe"',
    'cafe -zurich',
    'zurich -"cafe zurich"',
    'text:1702024',
  ])
    assert.deepEqual(await scene.find(q), [], q);
});

test('a phrase with a number is compared as a whole, also to exclude', async () => {
  const scene = await openSearchScene(database);
  const other = await scene.submit({ text: 'number 1234567 closed, ticket open' });
  const same = await scene.submit({ text: 'ticket 1234567 closed' });
  assert.deepEqual(await scene.find('"ticket 1234567 closed"'), [same]);
  assert.deepEqual(await scene.find('closed -"ticket 1234567 closed"'), [other]);
});

test('a German word of an answer is found inside compounds, but not across words', async () => {
  const scene = await openSearchScene(database, 'german');
  const apart = await scene.submit({ text: 'Häuser in Berlin' });
  const inside = await scene.submit({ text: 'die Fernsehserien in Berlin' });
  assert.deepEqual(await scene.find('text:Serie'), [inside]);
  assert.deepEqual(await scene.find('berlin -text:Serie'), [apart]);
});

test('phrases and answers fold the same letters as words', async () => {
  const scene = await openSearchScene(database);
  for (const [text, q] of [
    ['مدينة كبيرة', '"مدينة كبيرة"'],
    ['þing vellir', '"thing vellir"'],
    ['رقم ١٢٣٤ هنا', '"رقم 1234 هنا"'],
    ['g\u0303ola d\u0323\u0331ar', 'text:gola'],
  ] as const) {
    const id = await scene.submit({ text });
    assert.deepEqual(await scene.find(q), [id], q);
  }
});

test('thousands of marks on one letter delay neither a submit nor the search of a phrase', {
  timeout: 60_000,
}, async () => {
  const scene = await openSearchScene(database);
  // Marks of two classes in the wrong order: sorting them takes quadratic time.
  const marks = (one: string, other: string) =>
    `bill for a phone a${one.repeat(10_000)}${other.repeat(10_000)}`;
  await scene.submit({ subject: 'Marks', text: marks('\u0301', '\u0316') });
  await scene.submit({ subject: 'Thai', text: marks('\u0e48', '\u0e38') });
  const id = await scene.submit({ subject: 'Phone', text: 'the phone bill is lost' });
  assert.deepEqual(await scene.find('"phone bill"'), [id]);
  assert.deepEqual(await scene.find('text:lost'), [id]);
});

/** A text, a query, and the words that are marked in the text. */
const marked: [string, string, string[], string?][] = [
  ['A Café and a cafe', 'cafe', ['Café', 'cafe']],
  ['A Café and a cafe', 'café', ['Café', 'cafe']],
  ['see invoice_2024_final.pdf now', 'invoice', ['invoice']],
  ['see invoice_2024_final.pdf now', '2024_final', ['2024_final']],
  ['see invoice_2024_final.pdf now', 'invoice_2024_final.pdf', ['invoice_2024_final.pdf']],
  ['https://shop.example.com/path', 'example.com', ['example.com']],
  ['part A-1029/77', '1029', ['1029']],
  ['my iPhone15', 'iphone', ['iPhone15']],
  ['call +49 170 1234567 now', '01701234567', ['+49 170 1234567']],
  ['今月の売上は', '売上', ['売上']],
  ['日本語ﾃｷｽﾄ入力', 'テキスト', ['ﾃｷｽﾄ']],
  ['ต้องการคืนสินค้าวันนี้', 'สินค้า', ['สินค้า']],
  ['say O’Brien said', "o'brien", ['O’Brien']],
  ['say O’Brien said', 'brien', ['Brien']],
  ['seen The Who live', 'the who', ['The', 'Who']],
  ['the running man runs', 'run', ['running', 'runs']],
  ['die Stromrechnung', 'rechnung', ['Stromrechnung'], 'german'],
  ['naïve façade', 'faca*', ['façade']],
  ['the U.S.A. team', 'usa', ['U.S.A']],
];
for (const [text, q, words, language] of marked)
  test(`"${q}" marks ${words.join(', ')} in "${text}"`, async () => {
    const scene = await openSearchScene(database, language);
    await scene.submit({ text });
    assert.deepEqual((await scene.hits(q)).toSorted(), words.toSorted());
  });
