import { writeFileSync } from 'node:fs';
import { openEngine } from './engines.ts';
import { openTab } from './tab.ts';
for (const name of ['Firefox','WebKit'] as const) {
  const t=Date.now();
  const engine = await openEngine(name);
  try {
    const tab = openTab(engine);
    await tab.resize(1280, 900);
    await tab.open('http://127.0.0.1:4719/app/sign-in');
    console.log(name, Date.now()-t, await tab.run('return [navigator.userAgent, navigator.language, innerWidth, document.title]'));
    await tab.see('Sign in');
    writeFileSync(`/tmp/fl/sett-${name}.png`, await tab.photograph());
  } catch (e) { console.log(name, e); }
  finally { await engine.close(); }
}
process.exit(0);
