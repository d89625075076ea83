#include "network/repeat.h"

#include "network/hosts.h"
#include "network/loss_meter.h"
#include "network/model.h"
#include "network/usage.h"

/* NULL where the model keeps none. */
typedef struct {
    Usage *usage;
    LossMeter *meter;
} Books;

static Books
books_of(const Network *network)
{
    Books books = {0};
    if (network->model->books != NULL)
        network->model->books(network, &books.usage, &books.meter);
    return books;
}

gboolean
network_can_repeat(const Network *network)
{
    if (!network->model->moves_bytes)
        return TRUE;
    return books_of(network).usage != NULL;
}

void
network_set_memo(Network *network, History *history, const Skipped *skipped)
{
    Books books = books_of(network);
    if (books.usage != NULL)
        usage_set_memo(books.usage, history, skipped);
    if (books.meter != NULL)
        loss_meter_set_memo(books.meter, history, skipped);
}

uint32_t
network_change_kind(const Network *network)
{
    return network->kind_later;
}

void
network_fingerprint(const Network *network, Fingerprint *print, SimTime *oldest)
{
    activities_fingerprint(network->activities, print, oldest);
    phases_fingerprint(network->phases, print, oldest);
    if (network_hosts(network) != NULL)
        hosts_fingerprint(network_hosts(network), print);
}

void
network_tape_begin(Network *network)
{
    Books books = books_of(network);
    if (books.usage != NULL)
        usage_tape_begin(books.usage, engine_now(network->engine));
    if (books.meter != NULL)
        loss_meter_tape_begin(books.meter);
}

gboolean
network_tape_end(Network *network)
{
    Books books = books_of(network);
    gboolean sound = books.usage == NULL || usage_tape_end(books.usage, engine_now(network->engine));
    sound = (books.meter == NULL || loss_meter_tape_end(books.meter)) && sound;
    if (!sound)
        network_tape_drop(network);
    return sound;
}

void
network_tape_repeat(Network *network, const Repeat *repeat)
{
    Books books = books_of(network);
    if (books.usage != NULL)
        usage_tape_repeat(books.usage, repeat->times);
    if (books.meter != NULL)
        loss_meter_tape_repeat(books.meter, repeat);
    network->totals.transfers += repeat->times * repeat->transfers;
    network->totals.bytes += repeat->times * repeat->bytes;
}

void
network_tape_drop(Network *network)
{
    Books books = books_of(network);
    if (books.usage != NULL)
        usage_tape_drop(books.usage);
    if (books.meter != NULL)
        loss_meter_tape_drop(books.meter);
}
