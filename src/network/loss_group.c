#include "network/loss_group.h"

#include "base/index.h"

#include <string.h>

/* Room below this part of the group's capacity is none. */
#define ROOM 1e-9

typedef struct {
    uint32_t first, n; /* in links */
    gboolean room;
    uint32_t seen; /* the refresh that looked at it last */
} Group;

/* A link is in this group. */
typedef struct {
    uint32_t group, next;
} Member;

struct LossGroups {
    const MaxMin *solver;
    uint32_t n_links;
    uint32_t *first_member; /* by link */
    GArray *links;          /* of uint32_t */
    GArray *groups;         /* of Group */
    GArray *members;        /* of Member */
    GArray *flipped;        /* of uint32_t */
    uint32_t refreshes;
};

LossGroups *
loss_groups_new(const MaxMin *solver, uint32_t n_links)
{
    LossGroups *groups = g_new0(LossGroups, 1);
    groups->solver = solver;
    groups->n_links = n_links;
    groups->first_member = g_new(uint32_t, MAX(1, n_links));
    memset(groups->first_member, 0xff, n_links * sizeof *groups->first_member);
    groups->links = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    groups->groups = g_array_new(FALSE, FALSE, sizeof(Group));
    groups->members = g_array_new(FALSE, FALSE, sizeof(Member));
    groups->flipped = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    return groups;
}

void
loss_groups_free(LossGroups *groups)
{
    if (groups == NULL)
        return;
    g_array_unref(groups->links);
    g_array_unref(groups->groups);
    g_array_unref(groups->members);
    g_array_unref(groups->flipped);
    g_free(groups->first_member);
    g_free(groups);
}

static gboolean
find_room(const LossGroups *groups, const Group *group)
{
    double capacity = 0, load = 0;
    for (uint32_t i = 0; i < group->n; i++) {
        uint32_t link = g_array_index(groups->links, uint32_t, group->first + i);
        capacity += maxmin_capacity(groups->solver, link);
        load += maxmin_load(groups->solver, link);
    }
    return capacity - load > ROOM * capacity;
}

static gboolean
is_of(const LossGroups *groups, const Group *group, const uint32_t *links, uint32_t n)
{
    return group->n == n &&
           memcmp(&g_array_index(groups->links, uint32_t, group->first), links, n * sizeof *links) == 0;
}

uint32_t
loss_groups_find(LossGroups *groups, const uint32_t *links, uint32_t n)
{
    for (uint32_t m = groups->first_member[links[0]]; m != INDEX_NONE;
         m = g_array_index(groups->members, Member, m).next) {
        uint32_t found = g_array_index(groups->members, Member, m).group;
        if (is_of(groups, &g_array_index(groups->groups, Group, found), links, n))
            return found;
    }
    Group group = {.first = groups->links->len, .n = n};
    g_array_append_vals(groups->links, links, n);
    group.room = find_room(groups, &group);
    g_array_append_val(groups->groups, group);
    for (uint32_t i = 0; i < n; i++) {
        Member member = {groups->groups->len - 1, groups->first_member[links[i]]};
        groups->first_member[links[i]] = groups->members->len;
        g_array_append_val(groups->members, member);
    }
    return groups->groups->len - 1;
}

gboolean
loss_groups_has_room(const LossGroups *groups, uint32_t group)
{
    return g_array_index(groups->groups, Group, group).room;
}

const uint32_t *
loss_groups_links(const LossGroups *groups, uint32_t group, uint32_t *n)
{
    const Group *found = &g_array_index(groups->groups, Group, group);
    *n = found->n;
    return &g_array_index(groups->links, uint32_t, found->first);
}

const uint32_t *
loss_groups_refresh(LossGroups *groups, const uint32_t *links, uint32_t n, uint32_t *n_flipped)
{
    g_array_set_size(groups->flipped, 0);
    groups->refreshes++;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t m = groups->first_member[links[i]]; m != INDEX_NONE;) {
            Member member = g_array_index(groups->members, Member, m);
            Group *group = &g_array_index(groups->groups, Group, member.group);
            m = member.next;
            if (group->seen == groups->refreshes)
                continue;
            group->seen = groups->refreshes;
            gboolean room = find_room(groups, group);
            if (room != group->room)
                g_array_append_val(groups->flipped, member.group);
            group->room = room;
        }
    }
    *n_flipped = groups->flipped->len;
    return (const uint32_t *)(const void *)groups->flipped->data;
}
