// What both versions of the SDK do with a server: list, call, progress, elicitation, changes, cancellation.

export async function use(client, { protocol, change, call }) {
    const seen = { protocol };
    seen.tools = (await client.listTools()).tools.map(tool => tool.name);
    seen.text = (await call('test_simple_text', {})).content[0].text;
    seen.progress = [];
    await call('test_tool_with_progress', {}, { onprogress: ({ progress, total }) => seen.progress.push([progress, total]) });
    seen.elicited = (await call('test_elicitation', { message: 'Who are you?' })).content[0].text;
    seen.error = (await call('test_error_handling', {})).isError;
    await call('test_trigger_tool_change', {});
    await within(change);
    seen.changed = true;
    seen.stopped = await stops(call);
    await client.close();
    console.log(JSON.stringify(seen));
    process.exit(0);
}

// Whether a call that is given up ends on the server too.
async function stops(call) {
    const given = new AbortController();
    const endless = call('test_endless', {}, { signal: given.signal }).catch(() => 'given up');
    await until(call, 1);
    given.abort();
    await endless;
    await until(call, 0);
    return true;
}

async function until(call, wanted) {
    const began = Date.now();
    for (;;) {
        const { running } = JSON.parse((await call('test_endless_count', {})).content[0].text);
        if (running === wanted) return;
        if (Date.now() - began > 10_000) throw new Error(`${running} endless calls, and not ${wanted}`);
        await new Promise(resolve => setTimeout(resolve, 20));
    }
}

function within(promise) {
    const late = new Promise((_, reject) => setTimeout(() => reject(new Error('not within 10 s')), 10_000));
    return Promise.race([promise, late]);
}
